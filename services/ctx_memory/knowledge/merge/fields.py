"""Merge JSON field by field and NDJSON record by record."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from ctx_memory.knowledge.documents import dump_json, dump_ndjson, parse_ndjson

T = TypeVar("T")


class Side(Enum):
    """Whose version stands where both sides changed the same thing differently."""

    OURS = "ours"
    THEIRS = "theirs"

    def of(self, ours: T, theirs: T) -> T:
        return ours if self is Side.OURS else theirs


@dataclass(frozen=True)
class Merged:
    """A merged text. `conflicts` says where only the preferred side's version is in it."""

    text: str
    conflicts: tuple[str, ...] = ()


MISSING: Any = object()
TIME_SUFFIX = "_at"  # of two moments the later one stands
CREATED = "created_at"  # but nothing is created twice: the earlier one


def merge_json(base: str | None, ours: str, theirs: str, prefer: Side = Side.OURS) -> Merged:
    """Merge field by field, at every depth; raises ValueError if a version is not JSON."""
    conflicts: list[str] = []
    before = MISSING if base is None else json.loads(base)
    merged = _value("", before, json.loads(ours), json.loads(theirs), prefer, conflicts)
    return Merged(dump_json(merged), tuple(conflicts))


def merge_ndjson(base: str | None, ours: str, theirs: str, prefer: Side = Side.OURS) -> Merged:
    """Merge the records of both sides by id, in the order of theirs, then of ours.

    A record that one side removed and the other left alone is removed. A line stays as it was
    written unless both sides changed it.
    """
    conflicts: list[str] = []
    before, mine, other = (_records(text) for text in (base or "", ours, theirs))
    lines = []
    for key in dict.fromkeys([*other, *mine]):
        known, new, other_new = (each.get(key, (MISSING, ""))[0] for each in (before, mine, other))
        record = _value(key, known, new, other_new, prefer, conflicts)
        versions = (each[key] for each in (other, mine) if key in each)
        written = next((line for value, line in versions if value == record), None)
        if record is not MISSING:
            lines.append(f"{written}\n" if written is not None else dump_ndjson([record]))
    return Merged("".join(lines), tuple(conflicts))


def _records(text: str) -> dict[str, tuple[Any, str]]:
    """Records and their lines by id.

    One without an id stands for itself, and a repeated id is counted.
    """
    found: dict[str, tuple[Any, str]] = {}
    seen: Counter[str] = Counter()
    lines = [line for line in text.split("\n") if line.strip()]
    for record, line in zip(parse_ndjson(text), lines, strict=True):
        has_id = isinstance(record, dict) and "id" in record
        key = str(record["id"]) if has_id else json.dumps(record, sort_keys=True)
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key} ({seen[key]})"] = record, line
    return found


def _value(name: str, base: Any, ours: Any, theirs: Any, prefer: Side, conflicts: list[str]) -> Any:
    """One merged value; MISSING if it is removed."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        before = base if isinstance(base, dict) else {}
        return _object(name, before, ours, theirs, prefer, conflicts)
    if _is_set(ours) and _is_set(theirs):
        return _list(base if _is_set(base) else [], ours, theirs)
    if name.endswith(TIME_SUFFIX) and isinstance(ours, str) and isinstance(theirs, str):
        is_creation = name.rpartition(".")[2] == CREATED
        return min(ours, theirs) if is_creation else max(ours, theirs)
    conflicts.append(_conflict(name, ours, theirs))
    return prefer.of(ours, theirs)


def _object(
    name: str,
    base: Mapping[str, Any],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    prefer: Side,
    conflicts: list[str],
) -> dict[str, Any]:
    merged = {}
    for key in dict.fromkeys([*ours, *theirs]):
        known, mine, other = (each.get(key, MISSING) for each in (base, ours, theirs))
        value = _value(f"{name}.{key}" if name else key, known, mine, other, prefer, conflicts)
        if value is not MISSING:
            merged[key] = value
    return merged


def _is_set(value: Any) -> bool:
    """Whether it is a list of different words, such as blockers or members."""
    return (
        isinstance(value, list)
        and all(isinstance(item, str) for item in value)
        and len(set(value)) == len(value)
    )


def _list(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Merge lists as sets: base `a b`, ours `a c`, theirs `a b d` → `a c d`."""
    kept = [item for item in ours if item in theirs or item not in base]
    return kept + [item for item in theirs if item not in base and item not in kept]


def _conflict(name: str, ours: Any, theirs: Any) -> str:
    field = f"Field '{name or 'value'}'"
    if ours is MISSING:
        return f"{field}: deleted by ours but modified by theirs"
    if theirs is MISSING:
        return f"{field}: deleted by theirs but modified by ours"
    return f"{field}: both sides modified differently"
