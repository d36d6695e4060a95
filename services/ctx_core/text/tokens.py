"""Split text, prose or code, into words and terms for lexical search."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from py_rust_stemmers import SnowballStemmer

# A run of letters, digits and underscores; in scripts without spaces each character is a word.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+")
# The same words of an ASCII text in half the time; and without their spans, by replacing all other
# characters with spaces, in a third of it.
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_WORD_CHARACTERS = "".join(chr(c) if chr(c).isalnum() or chr(c) == "_" else " " for c in range(128))
# parseHTTPResponse2 → parse, HTTP, Response, 2
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
MAX_TERM_LENGTH = 64  # longer words are hashes, keys or minified text
TERM_CACHE_SIZE = 65_536  # most words repeat; about 10 MB when full

STOPWORDS = frozenset(
    (
        "a an and are as at be but by for from has have how i if in into is it its of on or that "
        "the their them then there these they this to was we were what when where which who why "
        "will with you your"
    ).split(" ")
)

_stemmer = SnowballStemmer("english")


class Word(NamedTuple):
    """A word of a text and its span."""

    start: int
    end: int
    text: str


def words(text: str) -> Iterator[Word]:
    """Yield every word of the text, in order."""
    for match in _WORD.finditer(text):
        yield Word(match.start(), match.end(), match.group())


def word_list(text: str) -> list[str]:
    """Return every word of the text, in order, without its span."""
    return text.translate(_WORD_CHARACTERS).split() if text.isascii() else _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the span of every word, in order; for long texts quicker than `words`."""
    word = _ASCII_WORD if text.isascii() else _WORD
    return [match.span() for match in word.finditer(text)]


def stem_function(language: str) -> Callable[[str], str]:
    """Return the stemmer of a language: `searching` → `search`; an unknown one changes no word."""
    try:
        stem: Callable[[str], str] = SnowballStemmer(language).stem_word
    except ValueError:
        return str
    return stem


@lru_cache(maxsize=TERM_CACHE_SIZE)
def terms(word: str) -> tuple[str, ...]:
    """Return the terms of a word: its parts, stemmed, and the whole word where it has several.

    Stopwords and words that are too long have none.
    """
    if len(word) > MAX_TERM_LENGTH:
        return ()
    parts = word_parts(word)
    stems = [_stemmer.stem_word(part) for part in parts if part not in STOPWORDS]
    if len(parts) > 1:
        stems.append(word.strip("_").lower())
    return tuple(stems)


def word_parts(text: str) -> list[str]:
    """Return the words and parts of identifiers in a text, in lower case."""
    return [part.lower() for part in _PART.findall(text)]


def text_terms(text: str) -> list[str]:
    """Return all terms of a text, each as often as it occurs."""
    return [term for word in word_list(text) for term in terms(word)]
