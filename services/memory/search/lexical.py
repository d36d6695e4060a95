"""The words of entries as sparse vectors: what hybrid search asks Qdrant instead of SQL."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.text import bm25
from services.core.text.tokens import MAX_TERM_LENGTH
from services.core.vectors.types import Sparse
from services.memory.records.fulltext.query import STEMMED, Either, Words, parse
from services.memory.records.types import TextMode

AVERAGE_TERMS = 75  # of an entry, about 700 characters: notes are shorter than chunks of code


@dataclass(frozen=True)
class Question:
    """The words that are asked for, and what should be said about them."""

    vector: Sparse
    warnings: Sequence[str] = ()


def document(text: str) -> Sparse:
    """The words of an entry."""
    return bm25.document(_plain(text), AVERAGE_TERMS)


def question(query: str, language: str) -> Question | None:
    """Any word of the query, as full text reads it; None where the vectors cannot tell it.

    They hold the stems of English, and no endless words.
    """
    if language != STEMMED:
        return None
    node, warnings = parse(query, TextMode.MATCH, language, any_word=True)
    parts = node.parts if isinstance(node, Either) else ()
    words = [part.text for part in parts if isinstance(part, Words)]
    if any(len(word) > MAX_TERM_LENGTH for word in words):
        return None
    return Question(bm25.query(_plain(" ".join(words))), warnings)


def _plain(text: str) -> str:
    """Letters without their accents, as SQLite compares them."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKC", "".join(c for c in apart if not _is_accent(c)))


def _is_accent(letter: str) -> bool:
    """A mark on a Latin, Greek or Cyrillic letter; elsewhere marks make other letters."""
    return "\u0300" <= letter <= "\u036f"
