"""Limits of what resources and prompts show at once: a model reads all of it."""

from collections.abc import Mapping, Sequence
from typing import Any

MAX_TEXT = 2000  # characters of one entry
MAX_SHOWN = 100  # entries of a list resource
MAX_SESSIONS = 50
MAX_KNOWLEDGE, MAX_DECISIONS, MAX_CONVENTIONS, MAX_SKILLS = 30, 20, 20, 30  # of a prompt
CUT = "... (truncated, see full entry via resource)"


def shortened(text: str, length: int = MAX_TEXT) -> str:
    """Cut a text, saying where the rest is."""
    return text if len(text) <= length else f"{text[:length].rstrip()}\n{CUT}"


def capped(items: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Cut a list; its last item then says how many are missing."""
    if len(items) <= most:
        return list(items)
    return [*items[:most], {"more": len(items) - most, "note": more(len(items) - most)}]


def more(count: int) -> str:
    return f"... and {count} more"
