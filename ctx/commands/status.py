"""`ctx status`: which servers answer, and what they say."""

import argparse
import json
from dataclasses import asdict

from ctx.output import complain
from ctx.servers import Answer, ask_all
from services.core.errors import SettingsInvalid
from services.core.settings import load


def run(arguments: argparse.Namespace) -> int:
    """0 when every server is ready, 1 when not, 2 when the settings are wrong."""
    try:
        settings = load()
    except SettingsInvalid as error:
        complain(error, as_json=arguments.json)
        return 2
    answers = ask_all(settings)
    ready = all(answer.ready for answer in answers)
    if arguments.json:
        print(json.dumps({"ok": ready, "servers": [asdict(a) for a in answers]}, indent=2))
    else:
        print("\n".join(line for answer in answers for line in _lines(answer)))
        if not any(answer.running for answer in answers):
            print("\nNothing runs. Start with: ctx up")
    return 0 if ready else 1


def _lines(answer: Answer) -> list[str]:
    if not answer.running:
        return [f"{answer.service:<8} not running   {answer.url}"]
    state = "ready" if answer.ready else "NOT READY"
    lines = [f"{answer.service:<8} {state:<13} {answer.url}"]
    lines += [f"  {name:<10} {outcome}" for name, outcome in answer.checks.items()]
    return lines + [f"  note: {text}" for text in answer.advice]
