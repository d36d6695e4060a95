"""From entries that were found to the page that is shown: reranked, cut, rendered."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.core.rerank.stage import RerankStage
from services.memory.records.store import Records
from services.memory.records.types import ContentType, Criteria, Entry
from services.memory.search.failures import DIGITS, told
from services.memory.search.rerank import POOL
from services.memory.search.splitter import TextSplitter
from services.memory.threads.filters import Filters
from services.memory.threads.render import HitView, Scores, hit_view, with_images

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What all searches are asked for beside the query."""

    filters: Filters
    limit: int
    offset: int = 0
    include_images: bool = False
    explain: bool = False


@dataclass(frozen=True)
class RankedEntry:
    """An entry in its place; `chunk` is the number of the chunk that speaks for it.

    Entries are read when it is known which of them are shown. `uuid` is what the entry must have,
    where Qdrant named it: after a database was restored, an id may mean another entry.
    """

    id: int
    scores: Scores
    uuid: str | None = None
    chunk: int = 0
    entry: Entry | None = None


class Results:
    """Shows what was found."""

    def __init__(
        self, records: Records, truncation: int, cutting: TextSplitter, second: RerankStage | None
    ) -> None:
        self._records = records
        self._truncation = truncation
        self._cutting = cutting
        self._second = second

    @property
    def reranks(self) -> bool:
        return self._second is not None

    def depth(self, request: Request, limit: int) -> int:
        """How many entries must be found for this page."""
        needed = request.offset + limit
        return max(needed, POOL) if self._second else needed

    async def ranked(
        self,
        query: str,
        found: Sequence[RankedEntry],
        request: Request,
        limit: int,
        criteria: Criteria,
    ) -> tuple[list[HitView], list[str]]:
        """One page of a ranking, and what went wrong on the way."""
        ordered, warnings = await self._reranked(query, found, criteria)
        page: list[RankedEntry] = []
        rest = ordered[request.offset :]
        while rest and len(page) < limit:  # more than once where some were deleted meanwhile
            wanted = limit - len(page)
            page += await self._read(rest[:wanted], criteria)
            rest = rest[wanted:]
        entries = [item.entry for item in page if item.entry is not None]
        views = await self.shown(entries, request.include_images)
        for view, item in zip(views, page, strict=True):
            view["scores"] = item.scores
        return views, warnings

    async def shown(self, entries: Sequence[Entry], include_images: bool) -> list[HitView]:
        views = [hit_view(entry, self._truncation) for entry in entries]
        if include_images:
            rich = [e.id for e in entries if e.content_type is ContentType.MULTIMODAL]
            with_images(views, await self._records.images(rich) if rich else {})
        return views

    async def _read(self, found: Sequence[RankedEntry], criteria: Criteria) -> list[RankedEntry]:
        """With their entries, in order. SQL has the last word on what the criteria admit: what was
        changed or deleted and Qdrant has not heard of yet is left out."""
        missing = [item.id for item in found if item.entry is None]
        read: dict[int, Entry] = {}
        if missing:
            chosen = replace(criteria, ids=missing)
            read = {each.id: each for each in await self._records.select(chosen, len(missing))}
        whole = [item if item.entry else replace(item, entry=read.get(item.id)) for item in found]
        return [item for item in whole if item.entry and item.uuid in (None, item.entry.uuid)]

    async def _reranked(
        self, query: str, found: Sequence[RankedEntry], criteria: Criteria
    ) -> tuple[Sequence[RankedEntry], list[str]]:
        """The best in the reranker's order, the others after them; its order is the last word."""
        if self._second is None or not found:
            return found, []
        pool = await self._read(found[:POOL], criteria)
        try:
            fits = await self._second.score(query, [self._passage(item) for item in pool])
        except Exception as error:  # noqa: BLE001 - models raise anything; the first order stands
            reason = told(error, "rerank")
            return [_judged(item, None) for item in [*pool, *found[POOL:]]], [reason]
        best = sorted(zip(pool, fits, strict=True), key=lambda pair: -pair[1])
        rest = [_judged(item, None) for item in found[POOL:]]
        return [*(_judged(item, fit) for item, fit in best), *rest], []

    def _passage(self, item: RankedEntry) -> str:
        """The chunk that was found; the beginning where the text changed meanwhile."""
        assert item.entry is not None, "read before"
        chunks = self._cutting.chunks(item.entry.text)
        return chunks[item.chunk if item.chunk < len(chunks) else 0]


def _judged(item: RankedEntry, fit: float | None) -> RankedEntry:
    rounded = None if fit is None else round(fit, DIGITS)
    return replace(item, scores={**item.scores, "rerank_score": rounded})
