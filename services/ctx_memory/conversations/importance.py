"""How important a message is, as given or as its text suggests."""

import math
import re
from typing import Literal

Importance = Literal["low", "medium", "high", "critical"]

VALUES: dict[Importance, float] = {"low": 0.25, "medium": 0.5, "high": 0.75, "critical": 1.0}
URGENT = re.compile(r"\b(critical|urgent|important|crucial)\b|!\w", re.IGNORECASE)
QUESTION = re.compile(r"\?|\b(how|what|why|when)\b", re.IGNORECASE)
SHORT = 20  # a shorter text that neither asks nor urges has low importance
TOKENS_PER_WORD = 1.3


def judge(text: str) -> Importance:
    """Return the importance that a text suggests."""
    if URGENT.search(text):
        return "high"
    if QUESTION.search(text):
        return "medium"
    return "low" if len(text) < SHORT else "medium"


def level(value: float | None) -> Importance:
    """Return the name of a stored importance."""
    stored = VALUES["medium"] if value is None else value
    return min(VALUES, key=lambda name: abs(VALUES[name] - stored))


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    return math.ceil(len(text.split()) * TOKENS_PER_WORD)
