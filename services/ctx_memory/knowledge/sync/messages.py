"""Commit messages that say which entries changed."""

from collections import defaultdict
from collections.abc import Iterable

from ctx_memory.knowledge.merge.tree import Tree
from ctx_memory.knowledge.public import entry_of
from ctx_memory.knowledge.types import EntryType

MAX_NAMES = 3  # of one type, so that a message stays one line


def describe(before: Tree, after: Tree) -> str:
    """One line about the difference between two versions of a knowledge folder."""
    named: dict[tuple[str, EntryType], list[str]] = defaultdict(list)
    for path in sorted({*before, *after}):
        entry = entry_of(path)
        if entry is None or before.get(path) == after.get(path):
            continue
        entry_type, key = entry
        named[_verb(entry_type, path, before, after), entry_type].append(_name(entry_type, key))
    parts = [_part(verb, entry_type, keys) for (verb, entry_type), keys in named.items()]
    if before.get("history/sessions.ndjson") != after.get("history/sessions.ndjson"):
        parts.append("add session")
    return f"ctx: {', '.join(parts) or 'update context'}"


def _verb(entry_type: EntryType, path: str, before: Tree, after: Tree) -> str:
    if path not in after:
        return "remove"
    return "add" if entry_type is EntryType.DECISION and path not in before else "update"


def _name(entry_type: EntryType, key: str) -> str:
    return key.partition("-")[0] if entry_type is EntryType.DECISION else key


def _part(verb: str, entry_type: EntryType, keys: Iterable[str]) -> str:
    names = list(keys)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    listed = f"{', '.join(names[:MAX_NAMES])}{more}"
    if entry_type is EntryType.DECISION:
        return f"{verb} decision {listed}"
    return f"{verb} {listed} {entry_type.value}"
