"""Keys of entries: names that are safe as file names on every system."""

import re

from ctx_core.errors import KnowledgeRefused

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
