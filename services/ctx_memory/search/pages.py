"""Cuts pages from a ranking: reranks the best, and reads the entries of a page from SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctx_core.rerank.reranker import RerankStage
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria, Entry
from ctx_memory.search.report import SCORE_DIGITS, failure_message
from ctx_memory.search.splitter import TextSplitter

RERANK_POOL = 50  # entries reranked, whatever the page, so that all pages are cut from one order
RERANK_SCORE = "rerank_score"

Scores = Mapping[str, float | int | None]


@dataclass(frozen=True)
class RankedEntry:
    """An entry of a ranking with its scores; `chunk` is the number of its best chunk.

    `entry` is read when it is known which entries are shown. `uuid` is given where Qdrant found it:
    after a database was restored, an id may belong to another entry.
    """

    id: int
    scores: Scores
    uuid: str | None = None
    chunk: int = 0
    entry: Entry | None = None


@dataclass(frozen=True)
class RankedPage:
    """Entries with the scores of each, and warnings."""

    entries: Sequence[Entry]
    scores: Sequence[Scores]
    warnings: Sequence[str] = ()


class RankedPages:
    """Cuts pages from rankings; `stage` is None where nothing is reranked."""

    def __init__(
        self, records: EntryRecords, splitter: TextSplitter, stage: RerankStage | None
    ) -> None:
        self._records = records
        self._splitter = splitter
        self._stage = stage

    @property
    def reranks(self) -> bool:
        return self._stage is not None

    def depth(self, offset: int, limit: int) -> int:
        """Return how many entries a ranking must have for this page."""
        return max(offset + limit, RERANK_POOL) if self.reranks else offset + limit

    async def page(
        self,
        query: str,
        ranking: Sequence[RankedEntry],
        criteria: Criteria,
        limit: int,
        offset: int,
    ) -> RankedPage:
        """Return the entries from `offset` on that still meet the criteria, up to `limit`."""
        ordered, warnings = await self._reranked(query, ranking, criteria)
        page: list[RankedEntry] = []
        rest = ordered[offset:]
        while rest and len(page) < limit:  # again where some were deleted meanwhile
            missing = limit - len(page)
            page += await self._read(rest[:missing], criteria)
            rest = rest[missing:]
        entries = [item.entry for item in page if item.entry is not None]
        return RankedPage(entries, [item.scores for item in page], warnings)

    async def _read(self, ranking: Sequence[RankedEntry], criteria: Criteria) -> list[RankedEntry]:
        """Read the entries of a ranking, without entries that no longer meet the criteria.

        Entries may have changed or been deleted in SQL after their points were written.
        """
        missing = [item.id for item in ranking if item.entry is None]
        read: dict[int, Entry] = {}
        if missing:
            chosen = replace(criteria, ids=missing)
            read = {each.id: each for each in await self._records.select(chosen, len(missing))}
        found = [item if item.entry else replace(item, entry=read.get(item.id)) for item in ranking]
        return [item for item in found if item.entry and item.uuid in (None, item.entry.uuid)]

    async def _reranked(
        self, query: str, ranking: Sequence[RankedEntry], criteria: Criteria
    ) -> tuple[Sequence[RankedEntry], list[str]]:
        """Put the first RERANK_POOL entries in the reranker's order; where it fails, warn."""
        if self._stage is None or not ranking:
            return ranking, []
        pool = await self._read(ranking[:RERANK_POOL], criteria)
        rest = [_with_rerank_score(item, None) for item in ranking[RERANK_POOL:]]
        try:
            scores = await self._stage.score(query, [self._passage(item) for item in pool])
        except Exception as error:  # noqa: BLE001 - models raise anything; the first order stands
            reason = failure_message(error, "rerank")
            return [*(_with_rerank_score(item, None) for item in pool), *rest], [reason]
        best = sorted(zip(pool, scores, strict=True), key=lambda pair: -pair[1])
        return [*(_with_rerank_score(item, score) for item, score in best), *rest], []

    def _passage(self, item: RankedEntry) -> str:
        """Return the entry's best chunk, or its first where the text has changed since."""
        assert item.entry is not None, "read before"
        chunks = self._splitter.chunks(item.entry.text)
        return chunks[item.chunk if item.chunk < len(chunks) else 0]


def _with_rerank_score(item: RankedEntry, score: float | None) -> RankedEntry:
    rounded = None if score is None else round(score, SCORE_DIGITS)
    return replace(item, scores={**item.scores, RERANK_SCORE: rounded})
