"""Entries as the contract shows them."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from services.core.text.truncate import truncated
from services.memory.records.types import Entry, Image


class ImageView(TypedDict):
    """An image as it was handed in."""

    data: str
    mime_type: str
    metadata: NotRequired[dict[str, Any]]


class EntryView(TypedDict):
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
    images: NotRequired[list[ImageView]]


class Scores(TypedDict, total=False):
    """What a search thinks of an entry; a distance is better when lower, the rest when higher."""

    rrf: float
    fts_rank: int | None
    semantic_rank: int | None
    fts_score: float | None
    semantic_distance: float | None
    rerank_score: float | None


class HitView(EntryView):
    """An entry that a search found, its text cut short."""

    is_text_content_truncated: bool
    scores: NotRequired[Scores]
    highlighted: NotRequired[str | None]


def entry_view(entry: Entry) -> EntryView:
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


def hit_view(entry: Entry, length: int) -> HitView:
    text = truncated(entry.text, length)
    shown = {"text_content": text, "is_text_content_truncated": len(text) < len(entry.text)}
    return cast(HitView, {**entry_view(entry), **shown})


def with_images(views: Sequence[EntryView], images: Mapping[int, Sequence[Image]]) -> None:
    """Adds each entry's images, an empty list where it has none."""
    for view in views:
        view["images"] = [image_view(image) for image in images.get(view["id"], ())]


def image_view(image: Image) -> ImageView:
    view: ImageView = {
        "data": base64.b64encode(image.data).decode(),
        "mime_type": image.mime_type,
    }
    if image.metadata is not None:
        view["metadata"] = dict(image.metadata)
    return view
