"""From candidates to a ranking: pure functions, each rule with its weight and its reason.

docs/benchmarks.md has the ablation of every rule: a rule stays because it gains there.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from services.core.tokens import terms, text_terms
from services.indexer.question import Question

TERM_SETS_CACHED = 65_536  # paths and symbols repeat from query to query

# Code that was kept for old callers, and code that only shows how to call: seldom what is meant.
_ASIDE = re.compile(
    r"(?:^|/)_?(?:compat|deprecated|legacy|v1|examples?|benchmarks?|bench)(?:/|\.|$)"
)
_TEST_WORDS = frozenset({"test", "spec", "testcas", "fixtur", "mock"})  # stems that ask for tests
_DOC_WORDS = frozenset({"doc", "document", "readm", "guid", "tutori", "changelog"})
_DEFINING_KINDS = frozenset({"class", "interface", "function", "type", "enum", "struct", "trait"})


@dataclass(frozen=True)
class Weights:
    """Every number of the ranking. The benchmark replaces them one by one."""

    lexical: float = 1.0
    dense: float = 0.6  # the shipped static model knows less than the words themselves
    definition: float = 1.0  # a query that is a name wants the place that defines it
    nested: float = 0.8  # a method of that name, or one of several definitions in the chunk
    assigned: float = 0.6  # a variable of that name, against a class or function
    file_name: float = 1.0  # words of the file's name that the query says: files are named by topic
    query_in_names: float = 0.5  # words of the query that names defined in the chunk say
    symbol_in_query: float = 0.7  # words of the chunk's own symbol that the query says
    test: float = 0.2  # tests repeat the words of what they test
    aside: float = 0.7
    docs: float = 0.3  # prose repeats the words of the code that is meant
    generated: float = 0.5
    imports: float = 0.8  # a list of imports names everything and explains nothing
    coherence: float = 0.5  # a file with many good chunks is about the topic
    repeat: float = 0.3  # the next chunk of a file already shown tells less than another file


DEFAULT = Weights()


@dataclass(frozen=True)
class Candidate:
    """A chunk that one of the legs found; a leg that did not find it gave no score."""

    id: str
    payload: Mapping[str, Any]
    dense: float = 0.0
    lexical: float = 0.0


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score, and what made it."""

    candidate: Candidate
    score: float
    rules: Mapping[str, float]

    @property
    def path(self) -> str:
        return str(self.candidate.payload["path"])


def rank(
    candidates: Sequence[Candidate], question: Question, weights: Weights = DEFAULT
) -> list[Ranked]:
    """Every candidate, the best first."""
    fused = _fused(candidates, weights)
    ranked = [
        _ruled(c, score, question, weights) for c, score in zip(candidates, fused, strict=True)
    ]
    return sorted(_coherent(ranked, weights), key=_order)


def select(
    ranked: Sequence[Ranked], limit: int, per_path: int, weights: Weights = DEFAULT
) -> list[Ranked]:
    """The results: each further chunk of the same file counts less, and none past `per_path`."""
    waiting = list(ranked)
    shown: dict[tuple[str, str], int] = defaultdict(int)
    chosen: list[Ranked] = []
    while waiting and len(chosen) < limit:
        best = min(waiting, key=lambda r: _order(r, weights.repeat ** shown[_file(r)]))
        waiting.remove(best)
        if shown[_file(best)] < per_path:
            chosen.append(best)
            shown[_file(best)] += 1
    return chosen


def merged(questions: Sequence[Question]) -> Question:
    """Several queries about one thing as one question."""
    if len(questions) == 1:
        return questions[0]
    return Question(
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


def _ruled(candidate: Candidate, fused: float, question: Question, weights: Weights) -> Ranked:
    payload = candidate.payload
    defined = _definition(payload, question, weights)
    named = _naming(payload, question.terms, weights)
    place = _place(payload, question.terms, weights)
    score = (fused + defined) * named * place
    rules = {"fusion": fused, "definition": defined, "naming": named, "place": place}
    return Ranked(candidate, score, rules)


def _definition(payload: Mapping[str, Any], question: Question, weights: Weights) -> float:
    """What the chunk gains for defining the name that the query is."""
    wanted = {name.lower() for name in question.names}
    if not question.is_symbol or wanted.isdisjoint(payload["symbols"]):
        return 0.0
    if str(payload["symbol_path"]).lower() not in wanted:
        return weights.definition * weights.nested
    return weights.definition * (1.0 if payload["kind"] in _DEFINING_KINDS else weights.assigned)


def _naming(payload: Mapping[str, Any], query: frozenset[str], weights: Weights) -> float:
    """How well names agree with the query: of the file, of what the chunk defines."""
    stem = stem_terms(str(payload["path"]))
    names = frozenset().union(*(word_terms(name) for name in payload["symbols"]))
    return (
        1.0
        + weights.file_name * _share(stem, query)
        + weights.query_in_names * _share(query, names)
        + weights.symbol_in_query * _share(word_terms(str(payload["symbol"])), query)
    )


def _place(payload: Mapping[str, Any], query: frozenset[str], weights: Weights) -> float:
    """What stands where answers are seldom found counts less."""
    factor = 1.0
    if payload["is_test"] and query.isdisjoint(_TEST_WORDS):
        factor *= weights.test
    if payload["is_docs"] and query.isdisjoint(_DOC_WORDS):
        factor *= weights.docs
    if payload["is_generated"] or payload["is_vendored"]:
        factor *= weights.generated
    if _ASIDE.search(str(payload["path"])):
        factor *= weights.aside
    if payload["kind"] == "import":
        factor *= weights.imports
    return factor


def _coherent(ranked: Sequence[Ranked], weights: Weights) -> list[Ranked]:
    """The best chunk of a file gains by the share that the whole file has."""
    if not ranked:
        return []
    sums: dict[tuple[str, str], float] = defaultdict(float)
    best: dict[tuple[str, str], Ranked] = {}
    for item in ranked:
        sums[_file(item)] += item.score
        if _file(item) not in best or item.score > best[_file(item)].score:
            best[_file(item)] = item
    largest, highest = max(sums.values()), max(item.score for item in ranked)
    if largest <= 0:
        return list(ranked)
    scale = weights.coherence * highest / largest
    return [
        _raised(item, scale * sums[_file(item)]) if best[_file(item)] is item else item
        for item in ranked
    ]


def _raised(item: Ranked, bonus: float) -> Ranked:
    return Ranked(item.candidate, item.score + bonus, {**item.rules, "coherence": bonus})


# --- words ---------------------------------------------------------------------------------


@lru_cache(maxsize=TERM_SETS_CACHED)
def stem_terms(path: str) -> frozenset[str]:
    """The words of a file's name without its endings."""
    return frozenset(text_terms(PurePosixPath(path).name.split(".")[0]))


@lru_cache(maxsize=TERM_SETS_CACHED)
def word_terms(name: str) -> frozenset[str]:
    return frozenset(terms(name))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """How much of `part` is in `whole`."""
    return len(part & whole) / len(part) if part else 0.0


def _file(item: Ranked) -> tuple[str, str]:
    return str(item.candidate.payload["repo"]), item.path


def _order(item: Ranked, factor: float = 1.0) -> tuple[float, str, int]:
    """By score; what scores the same keeps one order on every machine."""
    return -item.score * factor, item.path, int(item.candidate.payload["start_line"])
