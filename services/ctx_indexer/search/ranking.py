"""Ranks candidates: pure functions that compare them with each other.

A rule stays because it gains in the ablation of docs/benchmarks.md.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctx_indexer.schema.features import Features, folder_of, path_version
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.rules import Candidate, Ranked, is_changelog, score
from ctx_indexer.search.weights import DEFAULT, Weights

LINES_PER_RELEASE = 50  # in a changelog: the newest stand on top, and are asked for
_QUERY_VERSION = re.compile(r"\b[vV]([0-9]{1,3})\b")
_LITERAL_SEPARATORS = re.compile(r"::|->|[.#]")


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
        ranked.append(score(candidate, fused, query, similarity, low_priority, weights))
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
    """Boost the chunks that hold a literal of the query as written, most where they define it."""
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
