"""From candidates to a ranking: pure functions, each rule with its weight and its reason.

docs/benchmarks.md has the ablation of every rule: a rule stays because it gains there.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.indexer.schema.features import ChunkLocation, Features, version
from services.indexer.search.query import ParsedQuery

_TEST_WORDS = frozenset({"test", "spec", "testcas", "fixtur", "mock"})  # stems that ask for tests
_DOC_WORDS = frozenset({"doc", "document", "readm", "guid", "tutori", "changelog"})
_ASKED_VERSION = re.compile(r"\b[vV]([0-9]{1,3})\b")
_DEFINING_KINDS = frozenset({"class", "interface", "function", "type", "enum", "struct", "trait"})


@dataclass(frozen=True)
class Weights:
    """Every number of the ranking. The benchmark replaces them one by one."""

    lexical: float = 1.0
    dense: float = 1.0  # 0.6 is 0.002 worse, on average over trainings of the model
    definition: float = 1.0  # a query that is a name wants the place that defines it
    nested: float = 0.8  # a method of that name, or one of several definitions in the chunk
    assigned: float = 0.6  # a variable of that name, against a class or function
    other_case: float = 0.9  # `Session` wants the class rather than the function `session`
    file_name: float = 1.0  # words of the file's name that the query says: files are named by topic
    query_in_names: float = 0.5  # words of the query that names defined in the chunk say
    symbol_in_query: float = 0.7  # words of the chunk's own symbol that the query says
    test: float = 0.2  # tests repeat the words of what they test
    aside: float = 0.7  # kept for old callers, or only showing how to call
    docs: float = 0.3  # prose repeats the words of the code that is meant
    generated: float = 0.5
    imports: float = 0.8  # a list of imports names everything and explains nothing
    coherence: float = 0.5  # a file with many good chunks is about the topic
    repeat: float = 0.3  # the next chunk of a file already shown tells less than another file


DEFAULT = Weights()


class Candidate(NamedTuple):
    """A chunk that one of the legs found; a leg that did not find it gave no score."""

    id: str
    features: Features
    dense: float = 0.0
    lexical: float = 0.0

    @property
    def file(self) -> tuple[str, str]:
        return self.features.location[:2]


class Ranked(NamedTuple):
    """A candidate with its score, and what made it."""

    candidate: Candidate
    score: float
    rules: Mapping[str, float]

    @property
    def order(self) -> tuple[float, ChunkLocation]:
        return -self.score, self.candidate.features.location


def words_of(candidates: Sequence[Candidate]) -> Iterator[str]:
    """The words of the candidates' names, of which `rank` wants to know how near they are."""
    for candidate in candidates:
        yield from candidate.features.file_words
        yield from candidate.features.symbol_words


def rank(
    candidates: Sequence[Candidate],
    question: ParsedQuery,
    near: Mapping[str, float],
    weights: Weights = DEFAULT,
) -> list[Ranked]:
    """Every candidate, the best first. `near` says of words of their names how near they are to
    the question."""
    fused = _fused(candidates, weights)
    older = _superseded(candidates, question.text)
    ranked = [
        _ruled(c, score, question, near, weights, c.features.is_aside or c.file in older)
        for c, score in zip(candidates, fused, strict=True)
    ]
    return sorted(_coherent(ranked, weights), key=lambda item: item.order)


def select(
    ranked: Sequence[Ranked], limit: int, per_path: int, weights: Weights = DEFAULT
) -> list[Ranked]:
    """The results: each further chunk of the same file counts less, and none past `per_path`."""
    files: dict[tuple[str, str], list[Ranked]] = defaultdict(list)
    for item in ranked:
        files[item.candidate.file].append(item)
    heads = [(*items[0].order, 0) for items in files.values()]
    heapq.heapify(heads)
    chosen: list[Ranked] = []
    while heads and len(chosen) < limit:
        _, location, shown = heapq.heappop(heads)
        items = files[location[:2]]
        chosen.append(items[shown])
        shown += 1
        if shown < min(per_path, len(items)):
            rank_key, following = items[shown].order
            heapq.heappush(heads, (rank_key * weights.repeat**shown, following, shown))
    return chosen


def merged(questions: Sequence[ParsedQuery]) -> ParsedQuery:
    """Several queries about one thing as one question."""
    if len(questions) == 1:
        return questions[0]
    return ParsedQuery(
        text=" ".join(question.text for question in questions),
        terms=frozenset().union(*(question.terms for question in questions)),
        names=tuple(dict.fromkeys(name for question in questions for name in question.names)),
        is_symbol=all(question.is_symbol for question in questions),
    )


# --- fusion --------------------------------------------------------------------------------


def _fused(candidates: Sequence[Candidate], weights: Weights) -> list[float]:
    """Each leg's scores as a share of its best one, averaged: 1.0 is the best of both."""
    best_lexical = max((c.lexical for c in candidates), default=0.0) or 1.0
    best_dense = max((c.dense for c in candidates), default=0.0) or 1.0
    total = weights.lexical + weights.dense
    return [
        (weights.lexical * c.lexical / best_lexical + weights.dense * max(c.dense, 0) / best_dense)
        / total
        for c in candidates
    ]


# --- rules ---------------------------------------------------------------------------------


def _ruled(
    candidate: Candidate,
    fused: float,
    question: ParsedQuery,
    near: Mapping[str, float],
    weights: Weights,
    aside: bool,
) -> Ranked:
    chunk = candidate.features
    defined = _definition(chunk, question, weights)
    named = _naming(chunk, question.terms, near, weights)
    location = _place(chunk, question.terms, aside, weights)
    score = (fused + defined) * named * location
    rules = {"fusion": fused, "definition": defined, "naming": named, "location": location}
    return Ranked(candidate, score, rules)


def _definition(chunk: Features, question: ParsedQuery, weights: Weights) -> float:
    """What the chunk gains for defining the name that the query is."""
    if not question.is_symbol:
        return 0.0
    wanted = {name.lower() for name in question.names}
    if wanted.isdisjoint(chunk.symbols):
        return 0.0
    if chunk.symbol_path.lower() not in wanted:
        return weights.definition * weights.nested
    spelled = 1.0 if chunk.symbol_path in question.names else weights.other_case
    defines = 1.0 if chunk.kind in _DEFINING_KINDS else weights.assigned
    return weights.definition * spelled * defines


def _naming(
    chunk: Features, query: frozenset[str], near: Mapping[str, float], weights: Weights
) -> float:
    """How well names agree with the query: of the file, of what the chunk defines."""
    return (
        1.0
        + weights.file_name * _nearness(chunk.file_words, near)
        + weights.query_in_names * _share(query, chunk.name_terms)
        + weights.symbol_in_query * _nearness(chunk.symbol_words, near)
    )


def _place(chunk: Features, query: frozenset[str], aside: bool, weights: Weights) -> float:
    """What stands where answers are seldom found counts less."""
    factor = 1.0
    if chunk.is_test and query.isdisjoint(_TEST_WORDS):
        factor *= weights.test
    if chunk.is_docs and query.isdisjoint(_DOC_WORDS):
        factor *= weights.docs
    if chunk.is_generated:
        factor *= weights.generated
    if aside:
        factor *= weights.aside
    if chunk.kind == "import":
        factor *= weights.imports
    return factor


def _superseded(candidates: Sequence[Candidate], query: str) -> set[tuple[str, str]]:
    """Files of an older version, unless the query names it."""
    versions = {c.file: found for c in candidates if (found := version(c.features.location.path))}
    newest: dict[tuple[str, str], int] = {}
    for (repo, _), (folder, number) in versions.items():
        newest[repo, folder] = max(number, newest.get((repo, folder), 0))
    asked = {int(number) for number in _ASKED_VERSION.findall(query)}
    return {
        (repo, path)
        for (repo, path), (folder, number) in versions.items()
        if number < newest[repo, folder] and number not in asked
    }


def _coherent(ranked: Sequence[Ranked], weights: Weights) -> list[Ranked]:
    """The best chunk of a file gains by the share that the whole file has."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    best: dict[tuple[str, str], Ranked] = {}
    for item in ranked:
        sums[item.candidate.file] += item.score
        if item.candidate.file not in best or item.score > best[item.candidate.file].score:
            best[item.candidate.file] = item
    largest = max(sums.values(), default=0.0)
    if largest <= 0:
        return list(ranked)
    scale = weights.coherence * max(item.score for item in ranked) / largest
    return [
        _raised(item, scale * sums[item.candidate.file])
        if best[item.candidate.file] is item
        else item
        for item in ranked
    ]


def _raised(item: Ranked, bonus: float) -> Ranked:
    return Ranked(item.candidate, item.score + bonus, {**item.rules, "coherence": bonus})


def _nearness(words: Sequence[str], near: Mapping[str, float]) -> float:
    """How near the words are on average."""
    return sum(near.get(word, 0.0) for word in words) / len(words) if words else 0.0


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of `part` is in `whole`."""
    return len(part & whole) / len(part) if part else 0.0
