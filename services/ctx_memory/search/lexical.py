"""The words of entries and queries as BM25 vectors."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.text import bm25
from ctx_core.text.tokens import MAX_TERM_LENGTH
from ctx_core.vectors.points import Sparse
from ctx_memory.records.fulltext.query import STEMMED, Either, TextMode, Words, parse

AVERAGE_TERMS = 75  # of an entry, about 700 characters: notes are shorter than chunks of code


@dataclass(frozen=True)
class LexicalQuery:
    """The BM25 vector of a query's words, and warnings about them; the vector may be empty."""

    vector: Sparse
    warnings: Sequence[str] = ()


def document_vector(text: str) -> Sparse:
    """Return the BM25 vector of an entry's text."""
    return bm25.document_vector(_without_accents(text), AVERAGE_TERMS)


def lexical_query(query: str, language: str) -> LexicalQuery | None:
    """Return the vector of any word of the query, parsed as full-text search parses it.

    None where the vectors cannot answer: they hold English stems, no very long words, and no
    stop words.
    """
    if language != STEMMED:
        return None
    node, warnings = parse(query, TextMode.MATCH, language, any_word=True)
    parts = node.parts if isinstance(node, Either) else ()
    words = [part.text for part in parts if isinstance(part, Words)]
    if any(len(word) > MAX_TERM_LENGTH for word in words):
        return None
    vector = bm25.query_vector(_without_accents(" ".join(words)))
    if words and not vector.indices:
        return None
    return LexicalQuery(vector, warnings)


def _without_accents(text: str) -> str:
    """Remove accents, as SQLite's full-text index does."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKC", "".join(c for c in decomposed if not _is_accent(c)))


def _is_accent(letter: str) -> bool:
    """Whether it is a combining mark of Latin, Greek or Cyrillic; others make other letters."""
    return "\u0300" <= letter <= "\u036f"
