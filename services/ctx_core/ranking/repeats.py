"""Leaves out entries that repeat a better one."""

from collections.abc import Mapping, Sequence

from ctx_core.ranking.scoring import ScoredEntry
from ctx_core.text.tokens import text_terms

SAME_SHARE = 0.8  # of the longer text's terms that the shorter one has, to say the same
NEGATIONS = frozenset(("not", "no", "never", "without", "nor", "t"))  # `don't` has the term `t`


def without_repeats(
    ranked: Sequence[ScoredEntry], texts: Mapping[int, str], count: int
) -> list[ScoredEntry]:
    """Return the first `count` entries of a ranking that are no near-duplicates of better ones."""
    kept: list[ScoredEntry] = []
    seen: list[Sequence[str]] = []
    for entry in ranked:
        if len(kept) == count:
            break
        terms = text_terms(texts[entry.id]) or [texts[entry.id].strip()]
        if not any(says_the_same(terms, other) for other in seen):
            kept.append(entry)
            seen.append(terms)
    return kept


def says_the_same(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one text has the terms of the other in their order, and few others between them.

    A term in place of another, a negation or a number more is something else.
    """
    shorter, longer = (first, second) if len(first) <= len(second) else (second, first)
    if len(shorter) < len(longer) * SAME_SHARE:
        return False
    position = 0
    for term in longer:
        if position < len(shorter) and shorter[position] == term:
            position += 1
        elif term in NEGATIONS or any(letter.isdigit() for letter in term):
            return False
    return position == len(shorter)
