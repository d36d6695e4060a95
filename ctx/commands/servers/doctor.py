"""`ctx doctor`: prints what every check found, and how to fix it."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.exit_code import Exit
from ctx.output import can_ask, show
from ctx.terminal import colored

MARKS = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}
ROLES = {"ok": "good", "warn": "warning", "fail": "bad"}


@define_command(
    "doctor",
    COMMANDS["doctor"],
    no="a check failed",
    examples=["ctx doctor", "ctx doctor --fix", "ctx doctor --fix --yes", "ctx doctor --json"],
)
@click.option("--fix", is_flag=True, help="Make Qdrant equal to the records.")
@click.option("--yes", is_flag=True, help="With --fix: delete what it asks about, after a copy.")
def command(fix: bool, yes: bool, as_json: bool) -> int:
    """Run every check and print its finding."""
    from ctx.diagnosis import diagnose

    def confirm(question: str) -> bool:
        """Ask where somebody can answer; without an answer nothing is deleted."""
        return yes or (can_ask(as_json=as_json) and click.confirm(question, err=True))

    findings = asyncio.run(diagnose(fix=fix, confirm=confirm))
    is_ok = all(finding.state != "fail" for finding in findings)
    show({"ok": is_ok, "findings": [asdict(f) for f in findings]}, _text, as_json=as_json)
    return Exit.DONE if is_ok else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    states = {finding["state"] for finding in body["findings"]}
    verdict = "All is well."
    if states & {"fail", "warn"}:
        verdict = f"Something {'needs fixing' if 'fail' in states else 'needs a look'}: see above."
    return "\n".join([*map(_line, body["findings"]), "", verdict])


def _line(finding: Mapping[str, Any]) -> str:
    mark = colored(MARKS[finding["state"]], ROLES[finding["state"]])
    line = f"{mark}  {finding['check']:<16} {finding['detail']}"
    return f"{line}\n      → {finding['fix']}" if finding["fix"] else line
