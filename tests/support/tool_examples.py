"""Answers of tools as docs/tools.md shows them: what differs from run to run is made the same."""

import json
import re
from pathlib import Path
from typing import Any

FOLDER = "/home/you"  # in place of the test's own
LONGEST_LIST, LONGEST_TEXT, MOST_LINES = 2, 200, 30
LATE = re.compile(r"not searchable yet|does not see it yet|still sees them")
MOMENT, DAY = "2026-01-31T12:00:00Z", "2026-01-31"
SOME_UUID = "5eed5eed-0000-4000-8000-000000000000"
# Numbers that differ from run to run, by the names above them.
VARYING = re.compile(r"(?i)(_ms|seconds|bytes|_mb|duration|unix|timestamp|updated|metrics|calls)")
# In this order: what a later one would match is already replaced.
REPLACED = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), SOME_UUID),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), MOMENT),
    (re.compile(r"\b202\d-\d\d-\d\d\b(?!T)"), DAY),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "5eed" * 8),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,12}\b"), "5eed5eed"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b"), r"1 \2"),
)


def on_time(text: str) -> str:
    """Return an answer as it is on a machine with nothing else to do: vectors were not late."""
    if not LATE.search(text):
        return text
    body = json.loads(text)
    for key in ("warnings", "degraded"):
        kept = [each for each in body.pop(key, ()) if not LATE.search(each)]
        body |= {key: kept} if kept else {}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def shown(text: str, folder: Path) -> str:
    """Return an answer to be shown: JSON on several lines, long lists and texts cut with `…`."""
    text = text.replace(str(folder), FOLDER)
    try:
        body = json.loads(text)
    except ValueError:
        lines = _steady(text).split("\n")
    else:
        lines = json.dumps(_cut(body), indent=2, ensure_ascii=False).split("\n")
    cut = ["…"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *cut])


def arguments_shown(arguments: Any, folder: Path) -> str:
    """Return the arguments of a call on one line."""
    return _steady(json.dumps(arguments, ensure_ascii=False).replace(str(folder), FOLDER))


def steady(example: str) -> str:
    """Return an example without numbers that another processor may compute otherwise."""
    return re.sub(r"-?\d+\.\d+", "0.5", example)


def _cut(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {_steady(name): _cut(each, f"{key} {name}") for name, each in value.items()}
    if isinstance(value, list):
        more = len(value) - LONGEST_LIST
        kept = [_cut(each, key) for each in value[:LONGEST_LIST]]
        return [*kept, f"… {more} more"] if more > 0 else kept
    if isinstance(value, str):
        text = _steady(value)
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if VARYING.search(key):
        return 1
    return round(value, 2) if isinstance(value, float) else value


def _steady(text: str) -> str:
    for pattern, instead in REPLACED:
        text = pattern.sub(instead, text)
    return text
