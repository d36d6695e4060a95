"""Words and terms: how text, prose or code, is cut for lexical search."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from py_rust_stemmers import SnowballStemmer

# A run of letters, digits and underscores; scripts written without spaces give a word a character.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+")
# In a text of ASCII the same words, in half the time; and without their places, as what is left
# when all else is blank, in a third of it.
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_BLANKED = "".join(chr(c) if chr(c).isalnum() or chr(c) == "_" else " " for c in range(128))
# parseHTTPResponse2 → parse, HTTP, Response, 2
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
MAX_TERM_LENGTH = 64  # longer runs are hashes, keys or minified text
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
    """A word of a text and where it stands."""

    start: int
    end: int
    text: str


def words(text: str) -> Iterator[Word]:
    """Every word of the text, in order."""
    for match in _WORD.finditer(text):
        yield Word(match.start(), match.end(), match.group())


def word_list(text: str) -> list[str]:
    """Every word of the text, in order, without its place."""
    return text.translate(_BLANKED).split() if text.isascii() else _WORD.findall(text)


def spans(text: str) -> list[tuple[int, int]]:
    """Where every word stands; for long texts, quicker than words."""
    word = _ASCII_WORD if text.isascii() else _WORD
    return [match.span() for match in word.finditer(text)]


@lru_cache(maxsize=TERM_CACHE_SIZE)
def terms(word: str) -> tuple[str, ...]:
    """The terms a word stands for: its parts, stemmed, and the whole where it has several.

    A stopword stands for none.
    """
    if len(word) > MAX_TERM_LENGTH:
        return ()
    found = parts(word)
    kept = [_stemmer.stem_word(part) for part in found if part not in STOPWORDS]
    if len(found) > 1:
        kept.append(word.strip("_").lower())
    return tuple(kept)


def parts(text: str) -> list[str]:
    """The words that a text and its identifiers are made of, in lower case."""
    return [part.lower() for part in _PART.findall(text)]


def text_terms(text: str) -> list[str]:
    """All terms of a text, repeated as often as they occur."""
    return [term for word in word_list(text) for term in terms(word)]
