"""Finds contexts similar to a text: by vectors, or by full text where these are off or fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ctx_core.errors import CtxError, SearchFailed
from ctx_core.ranking.calibration import Calibration, calibration, confidence, words_scale
from ctx_core.ranking.scoring import Candidate, score
from ctx_core.text.tokens import terms, words
from ctx_core.vectors.points import Vector
from ctx_core.vectors.specs import BM25, DENSE
from ctx_memory.conversations.calls import CallTracker
from ctx_memory.projection.drains import BackgroundDrain
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.messages import MessageRecords
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.records.fulltext.search import TextSearch
from ctx_memory.search.entry_search import EntryHit
from ctx_memory.search.lexical import lexical_query
from ctx_memory.search.report import failure_message
from ctx_memory.search.semantic import EmbeddedQuery, SemanticRetriever

# Entries that are compared, in steps: one long context may have all of the best.
DEPTHS = (64, 512, 4096)
WORD_DEPTH = 200  # entries that full text ranks
MAX_WORD_QUERY = 1_000  # characters of a text by whose words entries are searched
SIMILARITY_DIGITS = 4
# The weight of words is made for a question of so many terms; a term of a longer text counts less.
QUESTION_TERMS = 8

Method = Literal["vectors", "words"]
MESSAGES = Criteria(kind=EntryKind.MESSAGE)


@dataclass(frozen=True)
class SimilarContexts:
    """Contexts with their similarity, best first; `degraded` says why vectors were not enough."""

    found: Sequence[tuple[str, float]]
    by: Method
    degraded: Sequence[str] = ()


class Similarity:
    """Compares a text with the messages and summaries of all contexts.

    `semantic` is None where vectors are off; `by_words` allows full text in their place.
    """

    def __init__(
        self,
        records: EntryRecords,
        texts: TextSearch,
        messages: MessageRecords,
        semantic: SemanticRetriever | None,
        drain: BackgroundDrain,
        calls: CallTracker,
        *,
        by_words: bool,
    ) -> None:
        self._records = records
        self._texts = texts
        self._messages = messages
        self._semantic = semantic
        self._drain = drain
        self._calls = calls
        self._allows_words = by_words

    async def find(
        self, text: str, limit: int, *, without: str | None = None, at_least: float = 0.0
    ) -> SimilarContexts:
        """Return the most similar contexts, `without` one, of a similarity of `at_least`.

        Raises SearchFailed where vectors fail and full text is not allowed.
        """
        async with self._calls.tracked(CallType.VECTOR_DB_SEARCH):
            found = await self._find(text, limit, without)
        chosen = [(id_, score) for id_, score in found.found if score >= at_least]
        return SimilarContexts(chosen, found.by, found.degraded)

    async def _find(self, text: str, limit: int, without: str | None) -> SimilarContexts:
        if self._semantic is None:
            if not self._allows_words:
                raise SearchFailed(
                    "Contexts cannot be compared: vectors (USE_VECTOR_DB) and full text "
                    "(FALLBACK_TO_KEYWORD_MATCH) are both off."
                )
            return await self._by_words(text, limit, without, ["vectors are off (USE_VECTOR_DB)"])
        behind = await self._drain.wait()
        try:
            found = await self._by_vectors(self._semantic, text, limit, without)
        except Exception as error:
            reason = failure_message(error, "vectors")
            if not self._allows_words:
                raise SearchFailed(f"Contexts cannot be compared: {reason}") from error
            return await self._by_words(text, limit, without, [reason])
        return SimilarContexts(found, "vectors", [behind] if behind else [])

    async def _by_vectors(
        self, semantic: SemanticRetriever, text: str, limit: int, without: str | None
    ) -> list[tuple[str, float]]:
        asked = lexical_query(text[:MAX_WORD_QUERY], self._texts.language)
        length = len(asked.vector.indices) if asked else 0
        scale = words_scale(await self._records.count(MESSAGES))
        scale *= min(1.0, QUESTION_TERMS / max(1, length))

        async def search(embedded: EmbeddedQuery) -> list[tuple[str, float]]:
            vectors: dict[str, Vector] = {DENSE: embedded.vector}
            if asked and length:
                vectors[BM25] = asked.vector
            best: list[tuple[str, float]] = []
            for depth in DEPTHS:
                found = await semantic.best(vectors, MESSAGES, depth)
                scored = _scored(found, scale, calibration(embedded.model))
                best = await self._contexts(scored, without)
                if len(best) >= limit or len(found[DENSE]) < depth:
                    break
            return best[:limit]

        return await semantic.with_query(text, search)

    async def _contexts(
        self, hits: Sequence[EntryHit], without: str | None
    ) -> list[tuple[str, float]]:
        """Return each context with the similarity of its best hit, best first."""
        owners = await self._messages.owners([hit.id for hit in hits])
        best: dict[str, float] = {}
        for hit in hits:
            owner = owners.get(hit.id)
            if owner is not None and owner != without:
                similarity = round(min(1.0, max(0.0, hit.score)), SIMILARITY_DIGITS)
                best[owner] = max(best.get(owner, 0.0), similarity)
        return sorted(best.items(), key=lambda item: -item[1])

    async def _by_words(
        self, text: str, limit: int, without: str | None, degraded: Sequence[str]
    ) -> SimilarContexts:
        """Rank by full text; the similarity is the share of the text's words that an entry has."""
        query = text[:MAX_WORD_QUERY]
        try:
            ranked, _ = await self._texts.rank(query, MESSAGES, WORD_DEPTH)
        except CtxError as error:
            raise SearchFailed(failure_message(error, "full text")) from error
        asked = _terms(query)
        entries = await self._records.get([id_ for id_, _ in ranked], EntryKind.MESSAGE)
        hits = [
            EntryHit(entry.id, len(asked & _terms(entry.text)) / max(1, len(asked)))
            for entry in entries
        ]
        return SimilarContexts((await self._contexts(hits, without))[:limit], "words", degraded)


def _scored(
    found: Mapping[str, Sequence[EntryHit]], scale: float, used: Calibration
) -> list[EntryHit]:
    """Return each hit of either vector with the probability that it is about the same.

    Scores by words are multiplied by `scale` first.
    """
    by_meaning = {hit.id: hit.score for hit in found[DENSE]}
    by_words = {hit.id: hit.score for hit in found.get(BM25, ())}
    candidates = {
        id_: Candidate(id_, "", by_words.get(id_, 0.0) * scale, by_meaning.get(id_))
        for id_ in {*by_meaning, *by_words}
    }
    return [
        EntryHit(each.id, confidence(score(each, {}, frozenset(), used), used))
        for each in candidates.values()
    ]


def _terms(text: str) -> set[str]:
    return {term for word in words(text) for term in terms(word.text)}
