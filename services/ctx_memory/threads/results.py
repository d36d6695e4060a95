"""Renders the entries of a page as search hits."""

from collections.abc import Sequence
from typing import cast

from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import ContentType, Entry
from ctx_memory.search.pages import RERANK_SCORE, RankedPage
from ctx_memory.threads.render import Scores, SearchHit, add_images, render_hit


class Results:
    """Renders hits with texts of at most `truncation_length` characters."""

    def __init__(self, records: EntryRecords, truncation_length: int) -> None:
        self._records = records
        self._truncation_length = truncation_length

    async def hits(self, entries: Sequence[Entry], include_images: bool) -> list[SearchHit]:
        """Render entries, with their images on request."""
        hits = [render_hit(entry, self._truncation_length) for entry in entries]
        if include_images:
            ids = [e.id for e in entries if e.content_type is ContentType.MULTIMODAL]
            add_images(hits, await self._records.images(ids) if ids else {})
        return hits

    async def ranked_hits(self, page: RankedPage, include_images: bool) -> list[SearchHit]:
        """Render a page of a ranking, each hit with its scores."""
        hits = await self.hits(page.entries, include_images)
        for hit, scores in zip(hits, page.scores, strict=True):
            hit["scores"] = cast(Scores, {RERANK_SCORE: None, **scores})
        return hits
