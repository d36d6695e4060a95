"""Entries in the form of the threads contract."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from ctx_core.text.excerpts import truncate
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import ContentType, Entry, Image
from ctx_memory.search.pages import RERANK_SCORE, RankedPage


class ImageResult(TypedDict):
    """An image as it was stored."""

    data: str
    mime_type: str
    position: int
    metadata: NotRequired[dict[str, Any]]


class EntryResult(TypedDict):
    """An entry with all of its text."""

    id: int
    thread_id: str
    source: str
    content_type: str
    text_content: str
    summary: str
    metadata: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    images: NotRequired[list[ImageResult]]


TRUNCATED = "..."  # ends a text that goes on


class Scores(TypedDict, total=False):
    """The scores of a hit; of distance and ranks a lower one is better, else a higher one.

    A hybrid search has all six, others a part; `rerank_score` is null without a reranker.
    """

    rrf: float
    fts_rank: int | None
    semantic_rank: int | None
    fts_score: float | None
    semantic_distance: float | None
    rerank_score: float | None


class SearchHit(EntryResult):
    """An entry that a search found, with its text truncated."""

    is_text_content_truncated: bool
    scores: NotRequired[Scores]
    highlighted: NotRequired[str | None]


def render_entry(entry: Entry) -> EntryResult:
    """Return an entry with all of its text, without images."""
    return {
        "id": entry.id,
        "thread_id": entry.thread or "",
        "source": entry.source or "",
        "content_type": entry.content_type.value,
        "text_content": entry.text,
        "summary": entry.summary,
        "metadata": dict(entry.metadata),
        "tags": list(entry.tags),
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }


def render_hit(entry: Entry, length: int) -> SearchHit:
    """Return an entry with its text truncated to `length` characters."""
    text = truncate(entry.text, length)
    is_cut = len(text) < len(entry.text)
    fields = {
        "text_content": text + TRUNCATED if is_cut else text,
        "is_text_content_truncated": is_cut,
    }
    return cast(SearchHit, {**render_entry(entry), **fields})


def add_images(results: Sequence[EntryResult], images: Mapping[int, Sequence[Image]]) -> None:
    """Set the images of each entry, an empty list where it has none."""
    for result in results:
        result["images"] = [render_image(image) for image in images.get(result["id"], ())]


def render_image(image: Image) -> ImageResult:
    """Return an image with its bytes in base64."""
    result: ImageResult = {
        "data": base64.b64encode(image.data).decode(),
        "mime_type": image.mime_type,
        "position": image.position or 0,
    }
    if image.metadata is not None:
        result["metadata"] = dict(image.metadata)
    return result


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
