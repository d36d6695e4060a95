"""`ctx status`: which servers answer, and what they say."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ctx.cli import COMMANDS, define_command
from ctx.output import show
from ctx.servers import server_statuses
from services.core.settings import load


@define_command(
    "status",
    COMMANDS["status"] + " The exit code is 0 when both servers are ready, else 1.",
    examples=["ctx status", "ctx status --json"],
)
def command(as_json: bool) -> int:
    """Print what each health port says."""
    statuses = server_statuses(load())
    is_ready = all(status.ready for status in statuses)
    show({"ok": is_ready, "servers": [asdict(s) for s in statuses]}, _text, as_json=as_json)
    return 0 if is_ready else 1


def _text(body: Mapping[str, Any]) -> str:
    lines = [line for server in body["servers"] for line in _lines(server)]
    if not any(server["running"] for server in body["servers"]):
        lines += ["", "Nothing runs. Start with: ctx up"]
    return "\n".join(lines)


def _lines(server: Mapping[str, Any]) -> list[str]:
    if not server["running"]:
        return [f"{server['service']:<8} not running   {server['url']}"]
    state = "ready" if server["ready"] else "NOT READY"
    lines = [f"{server['service']:<8} {state:<13} {server['url']}"]
    lines += [f"  {name:<10} {outcome}" for name, outcome in server["checks"].items()]
    return lines + [f"  note: {text}" for text in server["advice"]]
