"""Attacks ctx as strangers and accidents do, and reports what was tried and what held.

    .venv/bin/python -m scripts.bench.attacks [--only WORD] [--json]

Attacks on a server run against `ctx up` with a data folder and ports of its own; attacks on stored
data start what they need. A full disk is tried where a file system can be mounted. Add an attack to
the list of its file in scripts/bench/attacks. The exit code is 1 where something did not hold.
"""

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.bench.arguments import program_parser
from scripts.bench.attacks import hostile_repositories, network, stored_data, texts
from scripts.bench.attacks.attack import (
    FolderAttack,
    Outcome,
    ServerAttack,
    Target,
)
from scripts.bench.servers import environment, running

ON_SERVER: Sequence[ServerAttack] = [
    *hostile_repositories.ATTACKS,
    *texts.ATTACKS,
    *network.ATTACKS,
]
ON_FOLDERS: Sequence[FolderAttack] = stored_data.ATTACKS
ATTACK_SECONDS = 1800.0
SHOWN = 5  # failures printed of an attack


async def attempt(name: str, work: Awaitable[None], outcome: Outcome) -> dict[str, Any]:
    """Carry out an attack; one that ends with an error or takes too long did not hold."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(ATTACK_SECONDS):
            await work
    except Exception as error:  # noqa: BLE001 - whatever happens is the result
        outcome.note(f"{type(error).__name__}: {error}", held=False)
    seconds = round(time.perf_counter() - began, 1)
    print(f"{outcome.held:>5} of {outcome.tried:<5} {seconds:>6} s  {name}", file=sys.stderr)
    return {"name": name, "seconds": seconds, **asdict(outcome)}


async def attack_server(base: Path, attacks: Sequence[ServerAttack]) -> list[dict[str, Any]]:
    workspace, outside = base / "workspace", base / "outside"
    for folder in (workspace, outside):
        folder.mkdir()
    env = environment(base / "data", CTX_WORKSPACE=str(workspace), CTX_LOG_LEVEL="error")
    with running(env) as server:
        target = Target(server, workspace, outside)
        results = []
        for attack in attacks:
            outcome = Outcome()
            results.append(await attempt(attack.name, attack.run(target, outcome), outcome))
        return results


async def attack_folders(base: Path, attacks: Sequence[FolderAttack]) -> list[dict[str, Any]]:
    results = []
    for number, attack in enumerate(attacks):
        folder, outcome = base / f"folder{number}", Outcome()
        folder.mkdir()
        results.append(await attempt(attack.name, attack.run(folder, outcome), outcome))
    return results


async def run(only: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        on_server = [each for each in ON_SERVER if only in each.name]
        on_folders = [each for each in ON_FOLDERS if only in each.name]
        results = await attack_server(Path(folder), on_server) if on_server else []
        return results + await attack_folders(Path(folder), on_folders)


def table(results: Sequence[dict[str, Any]]) -> str:
    lines = ["| attack | tried | held | seconds |", "| --- | ---: | ---: | ---: |"]
    for each in results:
        lines.append(f"| {each['name']} | {each['tried']} | {each['held']} | {each['seconds']} |")
    for each in results:
        lines += [f"- {each['name']}: {what}" for what in each["broken"][:SHOWN]]
    return "\n".join(lines)


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--only", default="", help="attacks whose name holds this")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    results = asyncio.run(run(arguments.only))
    print(json.dumps(results, indent=2) if arguments.json else table(results))
    return 0 if all(each["tried"] == each["held"] for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
