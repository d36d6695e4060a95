"""Ranks candidates: pure functions, each rule with its weight and its reason.

A rule stays because it gains in the ablation of docs/benchmarks.md.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ctx_indexer.schema.features import ChunkLocation, Features, folder_of, path_version
from ctx_indexer.search.query import ParsedQuery, is_code

_TEST_WORDS = frozenset({"test", "spec", "testcas", "fixtur", "mock"})  # stems of queries for tests
_DOC_WORDS = frozenset({"doc", "document", "readm", "guid", "tutori", "changelog"})
CHANGELOG_WORDS = frozenset({"changelog", "changes", "history", "news", "releases"})
LINES_PER_RELEASE = 50  # in a changelog: the newest stand on top, and are what is asked for
_QUERY_VERSION = re.compile(r"\b[vV]([0-9]{1,3})\b")
_LITERAL_SEPARATORS = re.compile(r"::|->|[.#]")
_DEFINING_KINDS = frozenset({"class", "interface", "function", "type", "enum", "struct", "trait"})


@dataclass(frozen=True)
class Weights:
    """The weights of the ranking; the benchmark's ablation replaces one at a time."""

    lexical: float = 1.0
    dense: float = 1.0  # 0.6 is 0.002 worse, on average over trainings of the model
    definition: float = 1.0  # a query that is a name asks for its definition
    nested: float = 0.8  # of `definition`: a method, or one of several definitions in the chunk
    qualified: float = 2.0  # of `definition`: all names of `Class.method`; few chunks have them
    outer_only: float = 0.4  # of `definition`: the class where `Class.method` is asked for
    assigned: float = 0.6  # of `definition`: a variable, against a class or function
    other_case: float = 0.9  # of `definition`: `Session` asks for the class, not for `session`
    file_name: float = 1.0  # words of the file's name in the query: files are named by topic
    query_in_names: float = 0.5  # words of the query in the names that the chunk defines
    symbol_in_query: float = 0.7  # words of the chunk's main symbol in the query
    test: float = 0.2  # tests repeat the words of the code they test
    low_priority: float = 0.7  # for old callers, or only showing how to call
    docs: float = 0.3  # prose repeats the words of the code it describes
    usage: float = 2.0  # of documentation, where the query asks how to use the project
    changelog: float = 1.5  # of the best score: the top of a changelog, if asked what changed
    generated: float = 0.5
    imports: float = 0.8  # a list of imports names everything and explains nothing
    coherence: float = 0.5  # a file with many good chunks is about the topic
    repeat: float = 0.3  # a further chunk of a file tells less than another file
    literal: float = 0.5  # of the best score: the text holds an identifier as the query has it
    literal_definition: float = 0.25  # of the best score: it is defined there
    far_below: float = 0.1  # share of the best score; less is left out


DEFAULT = Weights()
MODES = CODE_FIRST, DOCS_FIRST, BALANCED = "code_first", "docs_first", "balanced"


def weights_of_mode(mode: str | None, weights: Weights = DEFAULT) -> Weights:
    """Return the weights of a mode: code or documentation first, or neither before the other."""
    if mode == CODE_FIRST:
        return replace(weights, usage=weights.docs, changelog=0.0)
    if mode == DOCS_FIRST:
        return replace(weights, docs=weights.usage)
    if mode == BALANCED:
        return replace(weights, docs=1.0, usage=1.0)
    return weights


class Candidate(NamedTuple):
    """A chunk that a query found, with its score by each vector; 0 where that did not find it."""

    id: str
    features: Features
    dense: float = 0.0
    lexical: float = 0.0
    literals: float = 0.0  # share of the query's literals that its text holds

    @property
    def file(self) -> tuple[str, str]:
        return self.features.location[:2]


class Ranked(NamedTuple):
    """A candidate with its score, and the contribution of each rule to it."""

    candidate: Candidate
    score: float
    rules: Mapping[str, float]

    @property
    def order(self) -> tuple[float, ChunkLocation]:
        return -self.score, self.candidate.features.location


def name_words(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Yield the words of the candidates' files and symbols, whose similarity `rank` needs."""
    for candidate in candidates:
        yield from candidate.features.file_words
        yield from candidate.features.symbol_words


def rank(
    candidates: Sequence[Candidate],
    query: ParsedQuery,
    similarity: Mapping[str, float],
    weights: Weights = DEFAULT,
) -> list[Ranked]:
    """Rank candidates, the best first. `similarity` is that of the words of their names to the
    query, from 0 to 1."""
    superseded = _superseded_files(candidates, query.text)
    weights = _for_one_kind_of_file(candidates, weights)
    ranked = []
    for candidate, fused in zip(candidates, _fuse(candidates, weights), strict=True):
        low_priority = candidate.features.is_low_priority or candidate.file in superseded
        ranked.append(_score(candidate, fused, query, similarity, low_priority, weights))
    boosted = _boost_literals(_boost_best(ranked, weights), query, weights)
    if query.asks_changes:
        boosted = _boost_changelogs(boosted, weights)
    return sorted(boosted, key=lambda item: item.order)


def _for_one_kind_of_file(candidates: Sequence[Candidate], weights: Weights) -> Weights:
    """Drop the penalty of tests, or of documentation, where a filter leaves nothing else."""
    flags = [candidate.features.flags for candidate in candidates]
    return replace(
        weights,
        test=1.0 if all(each.is_test for each in flags) else weights.test,
        docs=1.0 if all(each.is_docs for each in flags) else weights.docs,
    )


def select(
    ranked: Sequence[Ranked], limit: int, per_path: int, weights: Weights = DEFAULT
) -> list[Ranked]:
    """Select the hits: each further chunk of a file counts less, and none past `per_path`."""
    files: dict[tuple[str, str], list[Ranked]] = defaultdict(list)
    for item in ranked:
        files[item.candidate.file].append(item)
    queue = [(*items[0].order, 0) for items in files.values()]
    heapq.heapify(queue)
    selected: list[Ranked] = []
    while queue and len(selected) < limit:
        negative_score, location, taken = heapq.heappop(queue)
        items = files[location[:2]]
        selected.append(items[taken]._replace(score=-negative_score))
        taken += 1
        if taken < min(per_path, len(items)):
            negative_score, following = items[taken].order
            heapq.heappush(queue, (negative_score * weights.repeat**taken, following, taken))
    return selected


def cut_off(selected: Sequence[Ranked], weights: Weights = DEFAULT) -> list[Ranked]:
    """Drop the hits whose score is far below the best one's."""
    least = weights.far_below * selected[0].score if selected else 0.0
    return [item for item in selected if item.score >= least]


def holding_code(selected: Sequence[Ranked], query: ParsedQuery) -> list[Ranked]:
    """Drop the hits without the constant, header or code that is the whole query.

    Where no hit holds it, it may be misspelt, and all stay.
    """
    if query.literals != (query.text,) or not is_code(query.text):
        return list(selected)
    return [item for item in selected if item.candidate.literals] or list(selected)


# --- fusion --------------------------------------------------------------------------------


def _fuse(candidates: Sequence[Candidate], weights: Weights) -> list[float]:
    """Average both scores, each as a share of the best one: 1.0 is the best by both vectors."""
    best_lexical = max((c.lexical for c in candidates), default=0.0) or 1.0
    best_dense = max((c.dense for c in candidates), default=0.0) or 1.0
    total = weights.lexical + weights.dense
    return [
        (weights.lexical * c.lexical / best_lexical + weights.dense * max(c.dense, 0) / best_dense)
        / total
        for c in candidates
    ]


# --- rules ---------------------------------------------------------------------------------


def _score(
    candidate: Candidate,
    fused: float,
    query: ParsedQuery,
    similarity: Mapping[str, float],
    low_priority: bool,
    weights: Weights,
) -> Ranked:
    """Apply the rules that need no other candidate."""
    chunk = candidate.features
    definition = _definition(chunk, query, weights)
    name_match = _name_match(chunk, query.terms, similarity, weights)
    path_penalty = _path_penalty(chunk, query, low_priority, weights)
    rules = {
        "fusion": fused,
        "definition": definition,
        "name_match": name_match,
        "path_penalty": path_penalty,
    }
    return Ranked(candidate, (fused + definition) * name_match * path_penalty, rules)


def _definition(chunk: Features, query: ParsedQuery, weights: Weights) -> float:
    """Return the bonus of a chunk that defines the name which is the query."""
    if not query.is_symbol:
        return 0.0
    if len(query.names) > 1:
        return _qualified_definition(chunk, query, weights)
    names = {name.lower() for name in query.names}
    if names.isdisjoint(chunk.symbols):
        return 0.0
    if chunk.symbol_path.lower() not in names:
        return weights.definition * weights.nested
    case = 1.0 if chunk.symbol_path in query.names else weights.other_case
    kind = 1.0 if chunk.kind in _DEFINING_KINDS else weights.assigned
    return weights.definition * case * kind


def _qualified_definition(chunk: Features, query: ParsedQuery, weights: Weights) -> float:
    """Return the bonus of a chunk that defines the last of several names: `Class.method`.

    It counts by the share of the outer names that the chunk has too, and twice with all of them;
    without any the outer names may be a package.
    """
    last, *outer = (name.lower() for name in query.names)
    if last not in chunk.symbols:
        return 0.0 if chunk.symbols.isdisjoint(outer) else weights.definition * weights.outer_only
    around = {part.lower() for part in chunk.symbol_path.split(".")} | chunk.symbols
    share = _share(frozenset(outer), frozenset(around))
    if share == 1.0:
        return weights.definition * weights.qualified
    return weights.definition * (weights.nested + (1 - weights.nested) * share)


def _name_match(
    chunk: Features, terms: frozenset[str], similarity: Mapping[str, float], weights: Weights
) -> float:
    """Return the factor of names that match the query: of the file and of the symbols."""
    return (
        1.0
        + weights.file_name * _mean_similarity(chunk.file_words, similarity)
        + weights.query_in_names * _share(terms, chunk.name_terms)
        + weights.symbol_in_query * _mean_similarity(chunk.symbol_words, similarity)
    )


def _path_penalty(
    chunk: Features, query: ParsedQuery, low_priority: bool, weights: Weights
) -> float:
    """Return the factor of files and chunks that seldom hold the answer, or are asked for."""
    terms, factor = query.terms, 1.0
    if chunk.flags.is_test and terms.isdisjoint(_TEST_WORDS):
        factor *= weights.test
    if chunk.flags.is_docs:
        factor *= _docs_factor(chunk, query, weights)
    if chunk.flags.is_generated or chunk.flags.is_vendored:
        factor *= weights.generated
    if low_priority:
        factor *= weights.low_priority
    if chunk.kind == "import":
        factor *= weights.imports
    return factor


def is_changelog(chunk: Features) -> bool:
    """Whether a chunk is of a file that lists what changed."""
    return chunk.flags.is_docs and not CHANGELOG_WORDS.isdisjoint(chunk.file_words)


def _docs_factor(chunk: Features, query: ParsedQuery, weights: Weights) -> float:
    """Return the factor of documentation: less than code, unless the query asks for it."""
    if query.asks_usage:
        return weights.usage
    if query.asks_changes or not query.terms.isdisjoint(_DOC_WORDS):
        return 1.0
    return weights.docs


def _superseded_files(candidates: Sequence[Candidate], query: str) -> set[tuple[str, str]]:
    """Return the files of a version that has a newer one beside it, unless the query names it.

    Files without a version are newer: `types.py` beside `v1/fields.py`.
    """
    versions = {
        candidate.file: version
        for candidate in candidates
        if (version := path_version(candidate.features.location.path))
    }
    newest: dict[tuple[str, str], int] = {}
    for (repo, _), (folder, number) in versions.items():
        newest[repo, folder] = max(number, newest.get((repo, folder), 0))
    plain = {(repo, folder_of(path)) for repo, path in (each.file for each in candidates)}
    named = {int(number) for number in _QUERY_VERSION.findall(query)}
    return {
        (repo, path)
        for (repo, path), (folder, number) in versions.items()
        if (number < newest[repo, folder] or (repo, folder) in plain) and number not in named
    }


def _boost_best(ranked: Sequence[Ranked], weights: Weights) -> list[Ranked]:
    """Boost the best chunk of each file by the share that its file has of all scores."""
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
        _with_bonus(item, "coherence", scale * sums[item.candidate.file])
        if best[item.candidate.file] is item
        else item
        for item in ranked
    ]


def _boost_literals(ranked: Sequence[Ranked], query: ParsedQuery, weights: Weights) -> list[Ranked]:
    """Boost the chunks that hold what the query has as it is written, most where it is defined."""
    if not query.literals:
        return list(ranked)
    best = max((item.score for item in ranked), default=0.0)
    names = [_LITERAL_SEPARATORS.split(literal.lower()) for literal in query.literals]
    boosted = []
    for item in ranked:
        share = item.candidate.literals
        defined = sum(_defines(item.candidate.features, parts) for parts in names) / len(names)
        bonus = best * share * (weights.literal + weights.literal_definition * defined)
        boosted.append(_with_bonus(item, "literal", bonus) if bonus else item)
    return boosted


def _boost_changelogs(ranked: Sequence[Ranked], weights: Weights) -> list[Ranked]:
    """Boost the chunks of changelogs, the more the nearer they are to the top."""
    best = max((item.score for item in ranked), default=0.0)
    boosted = []
    for item in ranked:
        chunk = item.candidate.features
        newness = 1 / (1 + chunk.location.line / LINES_PER_RELEASE)
        bonus = best * weights.changelog * newness if is_changelog(chunk) else 0.0
        boosted.append(_with_bonus(item, "changelog", bonus) if bonus else item)
    return boosted


def _defines(chunk: Features, parts: Sequence[str]) -> bool:
    """Whether a chunk defines a plain or qualified name, in lower case."""
    *outer, last = parts
    if last not in chunk.symbols:
        return False
    around = {*chunk.symbol_path.lower().split("."), *chunk.symbols}
    return around.issuperset(outer)


def _with_bonus(item: Ranked, rule: str, bonus: float) -> Ranked:
    return Ranked(item.candidate, item.score + bonus, {**item.rules, rule: bonus})


def _mean_similarity(words: Sequence[str], similarity: Mapping[str, float]) -> float:
    return sum(similarity.get(word, 0.0) for word in words) / len(words) if words else 0.0


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that is in `whole`."""
    return len(part & whole) / len(part) if part else 0.0
