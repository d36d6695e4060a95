"""The extractive answer: the sources' own signatures and sentences, each with its citation."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.text.tokens import text_terms
from ctx_indexer.answers.planted import addresses_model
from ctx_indexer.answers.sentences import Sentence, sentences, signature
from ctx_indexer.answers.sources import Citation, Source

NAME = "extractive"
MAX_HITS = 7  # that are quoted, beside neighbours: one line each is read in seconds
MAX_MORE = 3  # further lines of the best sources
MORE_SOURCES = 3  # whose further sentences count
MAX_CODE = 140  # characters of a quoted line of code
MIN_CODE_TERMS = 2  # of the question in a line of code that is worth quoting
PARAGRAPH_GAP = 2  # lines between two paragraphs of one docstring
FIRST_BONUS = 0.5  # the first sentence describes a definition
# Imports name everything and say nothing; a quote mark begins a text, not a statement.
_NO_STATEMENT = re.compile(r"(?:from|import|use|using|#include|package)\b|[\"'\])}]")


@dataclass(frozen=True)
class _Line:
    """A line of the answer, and the lines of its source."""

    source: Source
    order: int
    text: str
    first: int
    last: int


def extract(sources: Sequence[Source], terms: frozenset[str]) -> tuple[str, list[Citation]]:
    """Return the answer of the sources' own sentences, and its citations."""
    quoted = _quoted([each for each in sources if not _is_planted(each)])
    said = {source.number: sentences(source) for source in quoted}
    weights = _weights([s.text for each in said.values() for s in each], terms)
    lines = [_head(source, said[source.number], weights) for source in quoted]
    lines += _more(quoted, said, weights, lines)
    lines.sort(key=lambda line: (line.source.number, line.order, line.first))
    text = "\n".join(f"{line.text} [{line.source.number}]" for line in lines)
    return text, _citations(quoted, lines)


def _quoted(sources: Sequence[Source]) -> list[Source]:
    hits = [each for each in sources if not each.span.role]
    return [*hits[:MAX_HITS], *(each for each in sources if each.span.role)]


def _is_planted(source: Source) -> bool:
    """Whether a path or symbol gives instructions."""
    return addresses_model(source.span.path) or addresses_model(source.span.definition.symbol)


def _weights(texts: Sequence[str], terms: frozenset[str]) -> dict[str, float]:
    """Weigh the question's terms: one that few sentences have tells more."""
    counts = Counter(term for text in texts for term in set(text_terms(text)) & terms)
    return {term: math.log(1 + len(texts) / (1 + counts[term])) for term in terms}


def _score(text: str, weights: dict[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in set(text_terms(text)))


def _head(source: Source, said: Sequence[Sentence], weights: dict[str, float]) -> _Line:
    """Describe a source: its signature, and the sentence that fits best."""
    span = source.span
    name = signature(span) or f"{span.path}:{span.first}"
    role = f" ({span.role})" if span.role else ""
    first = min(max(span.definition.def_line, span.first), span.last)
    if not said:
        code = _code_line(source, weights, frozenset())
        if code is None:
            return _Line(source, 0, f"`{name}`{role}", first, first)
        text, number = code
        return _Line(source, 0, f"`{name}`{role}: `{text}`", min(first, number), number)
    own = _own(said)
    best = max(own, key=lambda s: _score(s.text, weights) + FIRST_BONUS * (s is own[0]))
    begins, ends = min(first, best.first), max(first, best.last)
    return _Line(source, 0, f"`{name}`{role}: {best.text}", begins, ends)


def _own(said: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences of the first comment or docstring: it is about the definition."""
    own = [said[0]]
    for sentence in said[1:]:
        if sentence.first > own[-1].last + PARAGRAPH_GAP:
            break
        own.append(sentence)
    return own


def _more(
    quoted: Sequence[Source],
    said: dict[int, list[Sentence]],
    weights: dict[str, float],
    heads: Sequence[_Line],
) -> list[_Line]:
    """Return further sentences and lines of code of the best sources that fit the question."""
    shown = {(line.source.number, line.first, line.last) for line in heads}
    texts = " ".join(line.text for line in heads)
    found: list[tuple[float, _Line]] = []
    for source in quoted[:MORE_SOURCES]:
        for each in said[source.number]:
            if each.text not in texts:
                line = _Line(source, 1, each.text, each.first, each.last)
                found.append((_score(each.text, weights), line))
        said_lines = frozenset(n for s in said[source.number] for n in range(s.first, s.last + 1))
        code = _code_line(source, weights, said_lines)
        if code is not None and code[0] not in texts:
            line = _Line(source, 1, f"`{code[0]}`", code[1], code[1])
            found.append((_score(code[0], weights), line))
    least = max((_score(line.text, weights) for line in heads), default=0.0) / 2
    found = [each for each in found if each[0] > max(least, 0.0)]
    found.sort(key=lambda each: (-each[0], each[1].source.number, each[1].first))
    unseen = [line for _, line in found if (line.source.number, line.first, line.last) not in shown]
    return unseen[:MAX_MORE]


def _code_line(
    source: Source, weights: dict[str, float], without: frozenset[int]
) -> tuple[str, int] | None:
    """Return the line of code with the most of the question's terms."""
    best: tuple[float, str, int] | None = None
    span = source.span
    for number in source.lines:
        text = " ".join(span.rows.line(number).split())
        found = set(text_terms(text)) & weights.keys()
        skipped = number in without or number in span.documented or span.is_prose
        if skipped or len(found) < MIN_CODE_TERMS or len(text) > MAX_CODE or "`" in text:
            continue
        if number == span.definition.def_line or _NO_STATEMENT.match(text):
            continue
        if addresses_model(text):
            continue
        score = sum(weights[term] for term in found)
        if best is None or score > best[0]:
            best = score, text, number
    return None if best is None else best[1:]


def _citations(quoted: Sequence[Source], lines: Sequence[_Line]) -> list[Citation]:
    """Cite, of each source, the lines from the first quoted one to the last."""
    citations = []
    for source in quoted:
        own = [line for line in lines if line.source is source]
        first, last = min(line.first for line in own), max(line.last for line in own)
        citations.append(Citation(source, first, last))
    return citations
