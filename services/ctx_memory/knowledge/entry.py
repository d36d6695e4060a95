"""An entry of project knowledge: its type, its key, its scope."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ctx_core.errors import KnowledgeRefused


class Scope(StrEnum):
    """Who sees an entry: everybody with the repository, this user, or this run of the server."""

    PUBLIC = "public"
    PRIVATE = "private"
    EPHEMERAL = "ephemeral"


class EntryType(StrEnum):
    """The types of entries that have a key and a scope."""

    KNOWLEDGE = "knowledge"
    CONVENTION = "convention"
    DECISION = "decision"
    SKILL = "skill"

    @property
    def label(self) -> str:
        return "Knowledge entry" if self is EntryType.KNOWLEDGE else self.value.capitalize()


@dataclass(frozen=True)
class KnowledgeEntry:
    """One entry as it is stored.

    `key` names its file: a decision's is `NNNN-slug`, a skill's its folder. `events` are a skill's
    feedback and proposals, each by the name of its file in a public skill.
    """

    type: EntryType
    key: str
    content: str
    scope: Scope = Scope.PUBLIC
    author: str = ""
    events: Mapping[str, Any] = field(default_factory=dict)


def parse_scope(given: str) -> Scope:
    """Read a scope, or raise KnowledgeRefused."""
    try:
        return Scope(given.strip().lower())
    except ValueError:
        raise KnowledgeRefused(
            f"Invalid scope '{given}'. Use public, private, or ephemeral."
        ) from None


def parse_type(given: str) -> EntryType:
    """Read an entry type, or raise KnowledgeRefused."""
    try:
        return EntryType(given.strip().lower())
    except ValueError:
        raise KnowledgeRefused(
            f"Invalid entry_type '{given}'. Use 'knowledge', 'decision', 'convention', or 'skill'."
        ) from None


MAX_KEY_BYTES = 200  # file systems allow 255, and a file needs an ending and a name while written
MAX_SLUG_LENGTH = 60  # the layout's own limit


def entry_key(given: str) -> str:
    """The key under which a name is kept; raises KnowledgeRefused if nothing is left of it."""
    key = re.sub(r"-+", "-", re.sub(r"[^\w-]", "-", given.strip().lower())).strip("-")
    if not key:
        raise KnowledgeRefused("Key cannot be empty")
    if len(key.encode()) > MAX_KEY_BYTES:
        raise KnowledgeRefused(f"Key is too long: at most {MAX_KEY_BYTES} bytes")
    return key


def skill_folder(name: str) -> str:
    """The folder of a skill; raises KnowledgeRefused for a name that is a path."""
    if re.search(r"[/\\\0]|^\.+$|\.\.", name):
        raise KnowledgeRefused(f"Invalid skill name {name!r}: it must not be a path")
    return entry_key(name)


def decision_slug(title: str) -> str:
    """The part of a decision's file name that follows its number."""
    words = re.sub(r"[ /]+", "-", title.strip().lower())[:MAX_SLUG_LENGTH]
    return re.sub(r"[^\w-]", "", words).strip("-") or "decision"
