"""The rules that score one candidate by itself: its definitions, its names, its file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ctx_indexer.schema.features import ChunkLocation, Features
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.weights import Weights

_TEST_WORDS = frozenset({"test", "spec", "testcas", "fixtur", "mock"})  # stems of queries for tests
_DOC_WORDS = frozenset({"doc", "document", "readm", "guid", "tutori", "changelog"})
CHANGELOG_WORDS = frozenset({"changelog", "changes", "history", "news", "releases"})
_DEFINING_KINDS = frozenset({"class", "interface", "function", "type", "enum", "struct", "trait"})


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


def score(
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
    """Whether a chunk is of a file that lists changes."""
    return chunk.flags.is_docs and not CHANGELOG_WORDS.isdisjoint(chunk.file_words)


def _docs_factor(chunk: Features, query: ParsedQuery, weights: Weights) -> float:
    """Return the factor of documentation: less than code, unless the query asks for it."""
    if query.asks_usage:
        return weights.usage
    if query.asks_changes or not query.terms.isdisjoint(_DOC_WORDS):
        return 1.0
    return weights.docs


def _mean_similarity(words: Sequence[str], similarity: Mapping[str, float]) -> float:
    return sum(similarity.get(word, 0.0) for word in words) / len(words) if words else 0.0


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that is in `whole`."""
    return len(part & whole) / len(part) if part else 0.0
