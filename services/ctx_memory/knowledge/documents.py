"""The text formats of the knowledge folder: JSON, NDJSON, decisions and skills.

Users bring folders along, written by other programs: a reader skips a part that it cannot parse.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

NO_CONTEXT = "(no context provided)"
NO_DECISION = "(no decision recorded)"
NO_CONSEQUENCES = "(no consequences noted)"
PLACEHOLDERS = frozenset({NO_CONTEXT, NO_DECISION, NO_CONSEQUENCES})
UNTITLED = "Untitled"

_TITLE = re.compile(r"#\s+(?:(\d+)\s*-\s*)?(.+)")
_FIELD = re.compile(r"\*\*(Date|Status|Author)\*\*:[ \t]*(.*)")
_NUMBERED_TITLE = re.compile(rb"\A(\s*#[ \t]+)\d+(?=[ \t]*-)")


# --- JSON and NDJSON -----------------------------------------------------------------------


def dump_json(value: Any) -> str:
    """Write JSON that always looks the same, so that versions compare line by line."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def parse_object(text: str | None) -> dict[str, Any]:
    """Read a JSON object; an absent or damaged one is empty."""
    try:
        value = json.loads(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def dump_ndjson(records: Iterable[Any]) -> str:
    """Write one record a line; a text stands for a line that could not be read."""
    lines = (
        record
        if isinstance(record, str)
        else json.dumps(record, sort_keys=True, ensure_ascii=False)
        for record in records
    )
    return "".join(f"{line}\n" for line in lines)


def append_ndjson(text: str, records: Iterable[Any]) -> str:
    """Add records at the end; lines that are there stay as they are, a torn one as a line."""
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    return ended + dump_ndjson(records)


def parse_ndjson(text: str) -> list[Any]:
    """Read one record a line. A damaged line is kept as its text, so that nothing is lost."""
    records: list[Any] = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = line
        records.append(value if isinstance(value, dict) else line)
    return records


# --- decisions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """A recorded decision. `number` is 0 where its file has none."""

    number: int
    title: str
    date: str = ""
    status: str = "accepted"
    author: str = ""
    context: str = ""
    decision: str = ""
    consequences: str = ""


def render_decision(decision: Decision) -> str:
    """Write a decision in the ADR layout."""
    head = f"# {decision.number:04d} - {decision.title}\n\n**Date**: {decision.date}\n"
    head += f"**Status**: {decision.status}\n"
    head += f"**Author**: {decision.author}\n" if decision.author else ""
    return head + (
        f"\n## Context\n\n{decision.context.strip() or NO_CONTEXT}\n"
        f"\n## Decision\n\n{decision.decision.strip() or NO_DECISION}\n"
        f"\n## Consequences\n\n{decision.consequences.strip() or NO_CONSEQUENCES}\n"
    )


def parse_decision(text: str, number: int = 0) -> Decision:
    """Read a decision; parts that its file lacks are empty. `number` is in the file's name."""
    found = Decision(number, UNTITLED, status="")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            current = sections.setdefault(line[3:].strip().lower(), [])
        elif sections:
            current.append(line)
        else:
            found = _with_head(found, line)
    body = {name: "\n".join(lines).strip() for name, lines in sections.items()}
    return replace(
        found,
        status=found.status or "accepted",
        context=_unless(NO_CONTEXT, body.get("context", "")),
        decision=_unless(NO_DECISION, body.get("decision", "")),
        consequences=_unless(NO_CONSEQUENCES, body.get("consequences", "")),
    )


def renumber_decision(content: bytes, number: int) -> bytes:
    """Put another number into the title line; the rest stays byte for byte."""
    return _NUMBERED_TITLE.sub(b"\\g<1>%04d" % number, content, count=1)


def _with_head(decision: Decision, line: str) -> Decision:
    if field := _FIELD.match(line.strip()):
        match field[1]:
            case "Date":
                return replace(decision, date=field[2].strip())
            case "Status":
                return replace(decision, status=field[2].strip())
            case _:
                return replace(decision, author=field[2].strip())
    if decision.title == UNTITLED and (title := _TITLE.match(line)):
        return replace(
            decision, title=title[2].strip(), number=decision.number or int(title[1] or 0)
        )
    return decision


def _unless(placeholder: str, text: str) -> str:
    return "" if text == placeholder else text


# --- skills --------------------------------------------------------------------------------


@dataclass(frozen=True)
class SkillDocument:
    """A SKILL.md: the fields of its head, and its instructions."""

    fields: Mapping[str, Any]
    instructions: str

    @property
    def name(self) -> str:
        return str(self.fields.get("name", ""))

    @property
    def description(self) -> str:
        return str(self.fields.get("description", ""))


def render_skill(name: str, description: str, instructions: str) -> str:
    """Write a SKILL.md: a head of `key: value` lines, then the instructions."""
    head = f"---\nname: {_one_line(name)}\ndescription: {_one_line(description)}\n---\n"
    return f"{head}\n{instructions.strip()}\n"


def parse_skill(text: str) -> SkillDocument:
    """Read a SKILL.md; without a head all of it is instructions."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return SkillDocument({}, text.strip())
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return SkillDocument({}, text.strip())
    fields = {}
    for line in lines[1:end]:
        key, separator, value = line.partition(":")
        if separator and key.strip() and not key.startswith((" ", "\t", "#")):
            fields[key.strip()] = _scalar(value.strip())
    return SkillDocument(fields, "\n".join(lines[end + 1 :]).strip())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _scalar(value: str) -> Any:
    """A boolean, a list of texts in brackets, or the text itself."""
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if value.startswith("[") and value.endswith("]"):
        try:
            return json.loads(value)
        except ValueError:
            return [part.strip().strip("'\"") for part in value[1:-1].split(",") if part.strip()]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
