"""Parses a full-text query into a small tree that both databases can express.

Words that users type never become syntax: every leaf is quoted when the tree is written as SQL.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_WORDS = 64  # of one query: a longer one is a text, and each word costs a look-up
MAX_DEPTH = 16  # parentheses inside parentheses; SQLite's own parser stops at about 30
SIMPLE = "simple"  # words are compared without stemming
STEMMED = "english"  # the language whose endings and stop words are listed below
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_PART = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r'"[^"]*"?|[()]|[^\s()"]+')
OPERATORS = ("AND", "OR", "NOT")
NO_WORDS = "The query has no word to search for."

# The stop words of PostgreSQL's English configuration. The indexes hold them; a query for several
# words leaves them out where it has others, because few entries have all words of a question.
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
# Endings that stemming removes. The index holds `univers` for university, so the prefix `universi`
# finds it only by the words that these endings complete it to.
ENDINGS = (
    "ability ables ably al ally ance ances ant ated ates ating ation ational ations ative ator "
    "ators ed edly ement ements ence ences ency ent ental er ers ful fulness ible ibility ical "
    "ically ication ied ies iful ing ings ional ions ism isms ist ists ities ity ive ively iveness "
    "ization izations ize ized izer izes izing less lessness ly ment ments ness ously ousness "
    "tion tional tions"
).split()


# A consonant that is doubled before these endings is single in the index: `add` finds `adding`,
# which is there as `ad`, only by the whole word.
DOUBLING_ENDINGS = frozenset(("ed", "er", "ing", "ings"))
_DOUBLED = re.compile(r"([bcdfgklmnprtvz])\1$")
# Stemming makes `pai` of `pay`, which no longer word begins with; of `paye` it takes the e alone.
_FINAL_Y = re.compile(r"ys?$")


class TextMode(StrEnum):
    """How the words of a full-text query are combined."""

    MATCH = "match"
    PREFIX = "prefix"
    PHRASE = "phrase"
    BOOLEAN = "boolean"


@dataclass(frozen=True)
class TextQuery:
    """Words to search texts for: all must occur, or one of them with `any_word`."""

    text: str
    mode: TextMode = TextMode.MATCH
    any_word: bool = False


@dataclass(frozen=True)
class Words:
    """A phrase of one or more words; with `prefix` the last word may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True)
class All:
    """A conjunction: every part must occur."""

    parts: "Sequence[Node]"


@dataclass(frozen=True)
class Either:
    """A disjunction: one part must occur."""

    parts: "Sequence[Node]"


@dataclass(frozen=True)
class Not:
    """A negation: the part must not occur."""

    part: "Node"


Node = Words | All | Either | Not


class Malformed(ValueError):
    """A boolean query with a syntax error, which the message names."""


def parse(
    query: str, mode: TextMode, language: str, any_word: bool
) -> tuple[Node | None, list[str]]:
    """Return the tree of a query, None where it has no word to search for, and warnings."""
    query = query.replace("\0", " ").encode(errors="replace").decode()
    query = unicodedata.normalize("NFC", query)
    words = _words(query)
    if not words:
        return None, [NO_WORDS]
    match mode:
        case TextMode.PHRASE:
            return Words(query), []
        case TextMode.BOOLEAN:
            return _boolean(query, language, any_word)
        case TextMode.PREFIX:
            # The last word may be the beginning of another.
            chosen = [*_without_stop_words(words[:-1], language), words[-1]]
            return _joined(chosen, any_word, lambda word: _prefix(word, language))
        case _:
            return _joined(_without_stop_words(words, language), any_word)


def _boolean(query: str, language: str, any_word: bool) -> tuple[Node | None, list[str]]:
    """Parse a boolean query; a malformed one is taken as plain words, with a warning."""
    try:
        node = _pruned(_BooleanParser(query).parse(), language)
    except Malformed as error:
        words = [word for word in _words(query) if word not in OPERATORS]
        plain, warnings = _joined(_without_stop_words(words, language), any_word)
        return plain, [f"The boolean query was read as plain words: {error}.", *warnings]
    return node, [] if node is not None else [NO_WORDS]


def _has_word(text: str) -> bool:
    return _LETTER_OR_DIGIT.search(text) is not None


def _words(query: str) -> list[str]:
    """Split a query at spaces, quotes and parentheses; each word once."""
    parts = re.split(r'[\s()"]+', query)
    return list(dict.fromkeys(part for part in parts if _has_word(part)))


def _joined(
    words: Sequence[str], any_word: bool, leaf: Callable[[str], Node] = Words
) -> tuple[Node | None, list[str]]:
    chosen, warnings = words[:MAX_WORDS], []
    if len(words) > MAX_WORDS:
        warnings.append(f"Only the first {MAX_WORDS} words were searched for.")
    leaves = [leaf(word) for word in chosen]
    if not leaves:
        return None, warnings
    return (Either(leaves) if any_word else All(leaves)), warnings


def _without_stop_words(words: Sequence[str], language: str) -> Sequence[str]:
    """Leave stop words out, unless there are no others."""
    return [word for word in words if not _is_stop_word(word, language)] or words


def _is_stop_word(word: str, language: str) -> bool:
    """Whether every part of a word is a stop word, as of don't."""
    return language == STEMMED and STOP_WORDS.issuperset(_PART.findall(word.lower()))


def _prefix(word: str, language: str) -> Node:
    """Match words with this prefix, also where the stem in the index is shorter than it."""
    if language != STEMMED:
        return Words(word, prefix=True)
    completions = {
        ending[length:]
        for ending in ENDINGS
        for length in range(1, len(ending))
        if word.lower().endswith(ending[:length])
    }
    if _DOUBLED.search(word.lower()):
        completions |= DOUBLING_ENDINGS
    leaves = [Words(word, prefix=True), *(Words(word + rest) for rest in sorted(completions))]
    if _FINAL_Y.search(word.lower()):
        leaves.append(Words(f"{word}e", prefix=True))
    return Either(leaves)


def _pruned(node: Node, language: str) -> Node | None:
    """Remove leaves without a word, and stop words that must occur beside other words."""
    match node:
        case Words(text, prefix):
            if not _has_word(text):
                return None
            return _prefix(text, language) if prefix else node
        case Not(part):
            inner = _pruned(part, language)
            return None if inner is None else Not(inner)
        case All(parts) | Either(parts):
            kept = [each for part in parts if (each := _pruned(part, language)) is not None]
            if isinstance(node, All):
                kept = [each for each in kept if not _is_common(each, language)] or kept
            if len(kept) < 2:
                return kept[0] if kept else None
            return type(node)(kept)


def _is_common(node: Node, language: str) -> bool:
    """Whether a node is a stop word; a phrase of them is not, nor is a prefix."""
    if not isinstance(node, Words) or node.prefix or " " in node.text:
        return False
    return _is_stop_word(node.text, language)


class _BooleanParser:
    """Parses AND, OR, NOT, parentheses and quotes; words side by side mean AND."""

    def __init__(self, query: str) -> None:
        self._tokens = _TOKEN.findall(query)
        self._next = 0
        self._depth = 0

    def parse(self) -> Node:
        """Return the tree. Raises Malformed."""
        if not self._tokens:
            raise Malformed("it is empty")
        if sum(_has_word(token) for token in self._tokens) > MAX_WORDS:
            raise Malformed(f"it has more than {MAX_WORDS} words")
        node = self._disjunction()
        if self._peek() is not None:
            raise Malformed("a parenthesis is closed that was not opened")
        return node

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> str | None:
        token = self._peek()
        self._next += 1
        return token

    def _disjunction(self) -> Node:
        parts = [self._conjunction()]
        while self._peek() == "OR":
            self._take()
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Either(parts)

    def _conjunction(self) -> Node:
        parts = [self._operand()]
        while self._peek() not in (None, ")", "OR"):
            if self._peek() == "AND":
                self._take()
            parts.append(self._operand())
        return parts[0] if len(parts) == 1 else All(parts)

    def _operand(self) -> Node:
        token = self._take()
        match token:
            case None:
                raise Malformed("something is missing at its end")
            case "NOT":
                return Not(self._nested(self._operand))
            case "(":
                node = self._nested(self._disjunction)
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

    def _nested(self, parse: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Malformed(f"it is nested deeper than {MAX_DEPTH} levels")
        node = parse()
        self._depth -= 1
        return node
