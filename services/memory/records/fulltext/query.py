"""What a full-text query asks for, as a small tree that either database can be told.

Words that users type never become syntax: every leaf is quoted where it is written down.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.memory.records.types import TextMode

MAX_WORDS = 64  # of one query: longer ones are texts, and each word costs a look-up
MAX_DEPTH = 16  # parentheses inside parentheses; SQLite's own parser stops at about 30
STEMMED = "english"  # the language whose endings and stop words we know
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_PART = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r'"[^"]*"?|[()]|[^\s()"]+')
OPERATORS = ("AND", "OR", "NOT")
NO_WORDS = "The query has no word to search for."
STOP_WORDS_ONLY = "Every word of the query is too common to be searched for."

# The words that PostgreSQL leaves out of an English query; SQLite is told to do the same.
STOP_WORDS = frozenset(
    (
        "i me my myself we our ours ourselves you your yours yourself yourselves he him his "
        "himself she her hers herself it its itself they them their theirs themselves what which "
        "who whom this that these those am is are was were be been being have has had having do "
        "does did doing a an the and but if or because as until while of at by for with about "
        "against between into through during before after above below to from up down in out on "
        "off over under again further then once here there when where why how all any both each "
        "few more most other some such no nor not only own same so than too very s t can will "
        "just don should now"
    ).split()
)
# Endings that stemming takes away. An index holds `univers` for university, so whoever has typed
# `universi` so far finds it by the words that these endings make of it.
ENDINGS = (
    "ability ables ably al ally ance ances ant ated ates ating ation ational ations ative ator "
    "ators edly ement ements ence ences ency ent ental er ers ful fulness ible ibility ical ically "
    "ication ied ies iful ing ings ional ions ism isms ist ists ities ity ive ively iveness "
    "ization izations ize ized izer izes izing less lessness ly ment ments ness ously ousness "
    "tion tional tions"
).split()


@dataclass(frozen=True)
class Words:
    """Words that follow each other; as a prefix, they may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True)
class All:
    """Every part must be found."""

    parts: "Sequence[Node]"


@dataclass(frozen=True)
class Either:
    """One part must be found."""

    parts: "Sequence[Node]"


@dataclass(frozen=True)
class Not:
    """The part must not be found."""

    part: "Node"


Node = Words | All | Either | Not


class Malformed(ValueError):
    """Why a boolean query cannot be read."""


def read(
    query: str, mode: TextMode, language: str, any_word: bool
) -> tuple[Node | None, list[str]]:
    """What is asked for (None where nothing can be), and what should be said about it."""
    query = query.replace("\0", " ").encode(errors="replace").decode()
    if not _tells(_words(query), language):
        empty = not _says_something(query)
        return None, [NO_WORDS if empty else STOP_WORDS_ONLY]
    match mode:
        case TextMode.PHRASE:
            return Words(query), []
        case TextMode.BOOLEAN:
            return _boolean(query, language, any_word)
        case TextMode.PREFIX:
            return _joined(_words(query), language, any_word, lambda word: _begun(word, language))
        case _:
            return _joined(_words(query), language, any_word)


def _boolean(query: str, language: str, any_word: bool) -> tuple[Node | None, list[str]]:
    try:
        node = _pruned(_Reader(query).read(), language)
    except Malformed as wrong:
        words = [word for word in _words(query) if word not in OPERATORS]
        found, warnings = _joined(words, language, any_word)
        return found, [f"The boolean query was read as plain words: {wrong}.", *warnings]
    return node, [] if node is not None else [STOP_WORDS_ONLY]


def _says_something(text: str) -> bool:
    return _SAYS_SOMETHING.search(text) is not None


def _words(query: str) -> list[str]:
    """What is between spaces, quotes and parentheses."""
    parts = re.split(r'[\s()"]+', query)
    return list(dict.fromkeys(part for part in parts if _says_something(part)))


def _joined(
    words: Sequence[str],
    language: str,
    any_word: bool,
    leaf: Callable[[str], Node] = Words,
) -> tuple[Node | None, list[str]]:
    telling = _tells(words, language)
    chosen, warnings = telling[:MAX_WORDS], []
    if len(telling) > MAX_WORDS:
        warnings.append(f"Only the first {MAX_WORDS} words were searched for.")
    leaves = [leaf(word) for word in chosen]
    if not leaves:
        return None, warnings
    return (Either(leaves) if any_word else All(leaves)), warnings


def _tells(words: Sequence[str], language: str) -> list[str]:
    return [word for word in words if not _is_stop_word(word, language)]


def _is_stop_word(word: str, language: str) -> bool:
    """Also of several parts, such as don't."""
    return language == STEMMED and STOP_WORDS.issuperset(_PART.findall(word.lower()))


def _begun(word: str, language: str) -> Node:
    """Everything that begins so, also where the index holds less of it than was typed."""
    if language != STEMMED:
        return Words(word, prefix=True)
    rests = {
        ending[length:]
        for ending in ENDINGS
        for length in range(1, len(ending))
        if word.lower().endswith(ending[:length])
    }
    return Either([Words(word, prefix=True), *(Words(word + rest) for rest in sorted(rests))])


def _pruned(node: Node, language: str) -> Node | None:
    """Without leaves that say nothing or next to nothing, as PostgreSQL has it."""
    match node:
        case Words(text):
            return None if _is_stop_word(text, language) or not _says_something(text) else node
        case Not(part):
            inner = _pruned(part, language)
            return None if inner is None else Not(inner)
        case All(parts) | Either(parts):
            kept = [each for part in parts if (each := _pruned(part, language)) is not None]
            if len(kept) < 2:
                return kept[0] if kept else None
            return type(node)(kept)


class _Reader:
    """Reads AND, OR, NOT, parentheses and quotes; words side by side mean AND."""

    def __init__(self, query: str) -> None:
        self._tokens = _TOKEN.findall(query)
        self._next = 0
        self._depth = 0

    def read(self) -> Node:
        if not self._tokens:
            raise Malformed("it is empty")
        if sum(_says_something(token) for token in self._tokens) > MAX_WORDS:
            raise Malformed(f"it has more than {MAX_WORDS} words")
        node = self._any()
        if self._peek() is not None:
            raise Malformed("a parenthesis is closed that was not opened")
        return node

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> str | None:
        token = self._peek()
        self._next += 1
        return token

    def _any(self) -> Node:
        parts = [self._all()]
        while self._peek() == "OR":
            self._take()
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Either(parts)

    def _all(self) -> Node:
        parts = [self._one()]
        while self._peek() not in (None, ")", "OR"):
            if self._peek() == "AND":
                self._take()
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(parts)

    def _one(self) -> Node:
        token = self._take()
        match token:
            case None:
                raise Malformed("something is missing at its end")
            case "NOT":
                return Not(self._deeper(self._one))
            case "(":
                node = self._deeper(self._any)
                if self._take() != ")":
                    raise Malformed("a parenthesis is not closed")
                return node
            case "AND" | "OR" | ")":
                raise Malformed(f"something is missing before {token}")
            case _ if token.startswith('"'):
                if len(token) < 2 or not token.endswith('"'):
                    raise Malformed("a quotation is not closed")
                return Words(token[1:-1])
            case _:
                return Words(token.rstrip("*"), prefix=token.endswith("*"))

    def _deeper(self, read: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Malformed(f"it is nested deeper than {MAX_DEPTH} levels")
        node = read()
        self._depth -= 1
        return node
