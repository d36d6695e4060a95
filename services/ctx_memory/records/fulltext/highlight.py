"""Cuts passages of a text around the words that a full-text query finds, <mark>ed.

It takes time linear in the text, whichever database found it: FTS5's snippet() and ts_headline take
minutes for a text with many matches.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctx_core.text.tokens import stem_function
from ctx_memory.records.folding import fold_accents
from ctx_memory.records.fulltext.query import All, Either, Node, Not, Words

OPEN, CLOSE, GAP = "<mark>", "</mark>", " … "
CONTEXT_LETTERS = 80  # on either side of a match: enough to recognise the place
MAX_PASSAGES = 3
MAX_PASSAGE_LETTERS = 160  # between the first and the last match of a passage, and of one match
MAX_MARKS = 8  # of a passage
MAX_SCANNED = 1_000_000  # letters of a text; a word that first occurs later is not shown
SCANNED_AFTER = 50_000  # letters after the first match: the best passages are chosen among these
MIN_ROOT = 4  # letters that two words share which stemmers may reduce to the same stem
_WORD = re.compile("(?:[^\\W_][\u0300-\u036f]*)+")


class _Phrase(NamedTuple):
    """Stems that follow each other; the last is the beginning of a word with `prefix`."""

    stems: Sequence[str]
    prefix: str | None = None


class _Match(NamedTuple):
    """The span of a phrase in a text, and the number of the phrase."""

    start: int
    end: int
    phrase: int


class _Read(NamedTuple):
    """A word of a text: its span, its letters without case and accents, and its stem."""

    start: int
    end: int
    letters: str
    stem: str


class Highlighter:
    """Marks the words of a query; words that must not occur are not looked for."""

    def __init__(self, node: Node, language: str) -> None:
        self._stem = stem_function(language)
        self._phrases = [self._phrase(leaf) for leaf in _leaves(node)]
        self._first = {phrase.stems[0] for phrase in self._phrases if phrase.stems}

    def passages(self, text: str) -> str | None:
        """Return the passages with the most different words, None where no word is found."""
        read = list(self._read(text[:MAX_SCANNED]))
        matches = self._matches(read, self._phrases) or self._matches(read, self._roots())
        groups = _groups(matches)
        best = sorted(groups, key=lambda group: -len({match.phrase for match in group}))
        chosen = sorted(best[:MAX_PASSAGES])
        return GAP.join(_passage(text, group) for group in chosen) or None

    def _phrase(self, leaf: Words) -> _Phrase:
        letters = [fold_accents(word).lower() for word in _WORD.findall(leaf.text)]
        if not leaf.prefix or not letters:
            return _Phrase([self._stem(word) for word in letters])
        return _Phrase([self._stem(word) for word in letters[:-1]], letters[-1])

    def _roots(self) -> list[_Phrase]:
        """Return the beginnings of the query's words: a database may stem them in another way."""
        stems = {stem for phrase in self._phrases for stem in phrase.stems}
        return [_Phrase([], stem[:-1]) for stem in sorted(stems) if len(stem) > MIN_ROOT]

    def _read(self, text: str) -> Iterator[_Read]:
        known: dict[str, tuple[str, str]] = {}
        for found in _WORD.finditer(text):
            word = found.group()
            if word not in known:
                letters = fold_accents(word).lower()
                known[word] = letters, self._stem(letters)
            yield _Read(found.start(), found.end(), *known[word])

    def _matches(self, read: Sequence[_Read], phrases: Sequence[_Phrase]) -> list[_Match]:
        """Find the phrases; of several at one place the longest, never two that overlap."""
        prefixes = tuple(each.prefix for each in phrases if each.prefix and not each.stems)
        found: list[_Match] = []
        place = 0
        while place < len(read):
            word = read[place]
            if found and word.start > found[0].end + SCANNED_AFTER:
                break
            length = 0
            if word.stem in self._first or word.letters.startswith(prefixes):
                length, number = _longest(read, place, phrases)
                if length:
                    found.append(_Match(word.start, read[place + length - 1].end, number))
            place += max(length, 1)
        return found


def _leaves(node: Node) -> Iterator[Words]:
    match node:
        case Words():
            yield node
        case All(parts) | Either(parts):
            for part in parts:
                yield from _leaves(part)
        case Not():
            return


def _longest(read: Sequence[_Read], place: int, phrases: Sequence[_Phrase]) -> tuple[int, int]:
    """Return the number of words of the longest phrase at a place, and which phrase it is."""
    lengths = [_length(read, place, phrase) for phrase in phrases]
    longest = max(lengths, default=0)
    return longest, lengths.index(longest) if longest else 0


def _length(read: Sequence[_Read], place: int, phrase: _Phrase) -> int:
    stems = phrase.stems
    count = len(stems) + (phrase.prefix is not None)
    if place + count > len(read) or not count:
        return 0
    if any(read[place + n].stem != stem for n, stem in enumerate(stems)):
        return 0
    last = read[place + count - 1].letters
    return count if phrase.prefix is None or last.startswith(phrase.prefix) else 0


def _groups(matches: Sequence[_Match]) -> list[list[_Match]]:
    """Group matches whose contexts touch: they share a passage."""
    groups: list[list[_Match]] = []
    for match in matches:
        last = groups[-1] if groups else None
        is_near = last is not None and match.start - last[-1].end < 2 * CONTEXT_LETTERS
        if last is not None and is_near and _fits(match, last):
            last.append(match)
        else:
            groups.append([match])
    return groups


def _fits(match: _Match, group: Sequence[_Match]) -> bool:
    """Whether a passage has room for one more match."""
    return len(group) < MAX_MARKS and match.end - group[0].start < MAX_PASSAGE_LETTERS


def _passage(text: str, group: Sequence[_Match]) -> str:
    """Return the text around matches, cut at spaces where there are any."""
    start, end = group[0].start, group[-1].end
    first = _word_start(text, max(0, start - CONTEXT_LETTERS), start)
    last = _word_end(text, end, min(len(text), end + CONTEXT_LETTERS))
    parts, position = [], first
    for match in group:
        shown = min(match.end, match.start + MAX_PASSAGE_LETTERS)
        parts += [text[position : match.start], OPEN, text[match.start : shown], CLOSE]
        position = match.end
    parts.append(text[position:last])
    return " ".join("".join(parts).split())


def _word_start(text: str, start: int, end: int) -> int:
    """Return the first place between both that begins a word."""
    if start == 0:
        return 0
    space = next((n for n in range(start, end) if text[n].isspace()), None)
    return start if space is None else space + 1


def _word_end(text: str, start: int, end: int) -> int:
    """Return the last place between both that ends a word."""
    if end == len(text):
        return end
    space = next((n for n in range(end, start, -1) if text[n].isspace()), None)
    return end if space is None else space
