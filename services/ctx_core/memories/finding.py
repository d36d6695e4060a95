"""Finds memories by words and by meaning."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.memories.memory import Memory
from ctx_core.memories.results import MemoryHit
from ctx_core.ranking.calibration import WEAK, Calibration, calibration, confidence, words_scale
from ctx_core.ranking.period import Period, named_period
from ctx_core.ranking.repeats import without_repeats
from ctx_core.ranking.scoring import Candidate, rank
from ctx_core.text import bm25
from ctx_core.text.excerpts import highlights, mark_terms
from ctx_core.text.tokens import text_terms
from ctx_core.vectors.points import Sparse, Vector
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import DatetimeRange, Filter, HasId, Query
from ctx_core.vectors.specs import BM25, DENSE

CREATED_AT = "created_at"
MIN_CANDIDATES = 50  # by each vector, even for few results, so that ranking has a choice
CANDIDATES_PER_RESULT = 2
# The score of a term in a memory without points, by words: its rarity is not known.
TYPICAL_RARITY = 5.0


@dataclass(frozen=True)
class FoundMemories:
    """The best memories, how many the filters admit in all, and whether none of them fits well."""

    hits: Sequence[MemoryHit]
    total: int
    is_weak: bool


@dataclass
class _Scored:
    """A memory among the candidates."""

    memory: Memory
    scores: dict[str, float] = field(default_factory=dict)


async def find_memories(
    store: VectorStore,
    embedder: Embedder | None,
    collection: str,
    query: str,
    where: Filter,
    limit: int,
    today: date,
    waiting: Sequence[Memory] = (),
) -> FoundMemories:
    """Return the best memories for a query; without an embedder only words are compared.

    `waiting` are memories with words of the query whose points may be missing.
    """
    vectors: dict[str, Vector] = {}
    if embedder is not None:
        vectors[DENSE] = (await COMPUTE.run(embedder.embed_query, query)).tolist()
    lexical = bm25.query_vector(query)
    if lexical.indices:
        vectors[BM25] = lexical
    depth = max(MIN_CANDIDATES, limit * CANDIDATES_PER_RESULT)
    period = named_period(query, today)
    places = [where] if period is None else [where, _within(where, period)]
    found, total, entry_count = await asyncio.gather(
        _candidates(store, collection, vectors, places, depth),
        store.count(collection, where),
        store.count(collection),
    )
    scale = words_scale(entry_count)
    for each in found.values():
        each.scores[BM25] = each.scores.get(BM25, 0.0) * scale
    for memory in await _without_points(store, collection, waiting):
        found[memory.id] = _Scored(memory, {BM25: _words(memory, lexical.indices)})
    model = embedder.name if embedder else ""
    hits = _ranked(query, list(found.values()), calibration(model), period, limit)
    return FoundMemories(hits, total, _is_weak(hits, lexical))


async def _candidates(
    store: VectorStore,
    collection: str,
    vectors: Mapping[str, Vector],
    places: Sequence[Filter],
    depth: int,
) -> dict[str, _Scored]:
    """Return the best memories by each vector and filter, each with its scores by all vectors."""
    asked = [(name, where) for where in places for name in vectors]
    queries = [Query(name, vectors[name], depth, filter=where) for name, where in asked]
    pages = await store.query_batch(collection, queries) if queries else []
    found: dict[str, _Scored] = {}
    for (name, _), page in zip(asked, pages, strict=True):
        for hit in page:
            memory = Memory(hit.id, hit.payload["information"], hit.payload["metadata"])
            found.setdefault(hit.id, _Scored(memory)).scores[name] = hit.score
    missing = {
        name: [id_ for id_, each in found.items() if name not in each.scores] for name in vectors
    }
    lacking = [name for name in vectors if missing[name]]
    queries = [
        Query(
            name,
            vectors[name],
            len(missing[name]),
            filter=Filter(must=[HasId(missing[name])]),
            with_payload=False,
        )
        for name in lacking
    ]
    pages = await store.query_batch(collection, queries) if queries else []
    for name, page in zip(lacking, pages, strict=True):
        for hit in page:
            found[hit.id].scores[name] = hit.score
    return found


async def _without_points(
    store: VectorStore, collection: str, memories: Sequence[Memory]
) -> list[Memory]:
    """Return the memories that Qdrant does not know; it has ranked the others."""
    if not memories:
        return []
    known = await store.retrieve(collection, [memory.id for memory in memories], fields=[])
    ids = {record.id for record in known}
    return [memory for memory in memories if memory.id not in ids]


def _ranked(
    query: str,
    found: Sequence[_Scored],
    calibrated: Calibration,
    period: Period | None,
    limit: int,
) -> list[MemoryHit]:
    """Rank the candidates; of equal ones the newest is first."""
    by_age = sorted(found, key=lambda each: str(each.memory.metadata.get(CREATED_AT, "")))
    candidates = {
        number: Candidate(
            number,
            each.memory.information,
            words=each.scores.get(BM25, 0.0),
            cosine=each.scores.get(DENSE),
            day=_day(each.memory),
        )
        for number, each in enumerate(by_age)
    }
    ranked = without_repeats(
        rank(query, candidates, calibrated, period=period),
        {id_: each.text for id_, each in candidates.items()},
        limit,
    )
    terms = frozenset(text_terms(query))
    return [
        _hit(by_age[each.id].memory, confidence(each.score, calibrated), terms) for each in ranked
    ]


def _is_weak(hits: Sequence[MemoryHit], lexical: Sparse) -> bool:
    """Whether nothing fits well: the best is unsure, and none has every word that was asked for.

    A word or two as a query mean little, so that even the only memory with them is unsure.
    """
    if not hits or hits[0]["score"] >= WEAK:
        return False
    asked = set(lexical.indices)
    texts = (Memory(hit["id"], hit["information"], hit["metadata"]).text for hit in hits)
    return not asked or not any(
        asked.issubset(bm25.document_vector(each).indices) for each in texts
    )


def _within(where: Filter, period: Period) -> Filter:
    return Filter(must=[where, DatetimeRange(CREATED_AT, gte=period.since, lte=period.until)])


def _day(memory: Memory) -> date | None:
    created = memory.metadata.get(CREATED_AT)
    return None if created is None else datetime.fromisoformat(created).date()


def _hit(memory: Memory, score: float, terms: frozenset[str]) -> MemoryHit:
    return {
        "id": memory.id,
        "information": memory.information,
        "metadata": dict(memory.metadata),
        "score": score,
        "highlights": highlights(mark_terms(memory.information, terms)),
    }


def _words(memory: Memory, terms: Sequence[int]) -> float:
    """Return about the BM25 score of a memory that has no points yet."""
    vector = bm25.document_vector(memory.text)
    weights = dict(zip(vector.indices, vector.values, strict=True))
    return TYPICAL_RARITY * sum(weights.get(term, 0.0) for term in terms)
