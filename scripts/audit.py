"""Looks for known vulnerabilities of the pinned dependencies, as far as that can be done here.

    .venv/bin/python -m scripts.audit

It needs `pip-audit` (`pip install pip-audit`) and the service that it asks. Without either it says
that nothing was audited, and why; it fails for a vulnerability that was found.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.constraints import FILE

PROGRAM = "pip-audit"
SECONDS = 120.0  # a request for each of about 150 packages


def report(answer: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return the lines to print of what pip-audit found, and the exit code.

    pip-audit ends with success where it could look up nothing at all: that is said here.
    """
    every = answer["dependencies"]
    audited = [each for each in every if "vulns" in each]
    wrong = [(each, found) for each in audited for found in each["vulns"]]
    lines = [
        f"{each['name']} {each['version']}: {found['id']}, fixed in "
        f"{', '.join(found['fix_versions']) or 'no version yet'}"
        for each, found in wrong
    ]
    skipped = len(every) - len(audited)
    lines.append(f"audit: {len(audited)} packages, {len(wrong)} vulnerabilities, {skipped} skipped")
    if not audited:
        lines.append("audit: SKIPPED, the service knows none of the packages or cannot be reached")
    return lines, int(bool(wrong))


def audit(program: str) -> tuple[list[str], int]:
    """Run pip-audit on the pinned versions, and return lines and the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "audit.json"
        options = ("--no-deps", "--disable-pip", "--progress-spinner", "off", "-f", "json")
        command = [program, "-r", str(FILE), *options, "-o", str(file)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return [f"audit: SKIPPED, no answer within {SECONDS:g} s"], 0
        if not file.is_file():
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            return [f"audit: SKIPPED, {last}"], 0
        return report(json.loads(file.read_text()))


def main() -> int:
    """Print what was found; 1 for a vulnerability."""
    program = shutil.which(PROGRAM)
    if program is None:
        print(f"audit: SKIPPED, {PROGRAM} is not installed")
        return 0
    lines, code = audit(program)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
