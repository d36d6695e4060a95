"""Arguments of the thread tools that describe an entry, validated and turned into drafts.

The record store itself refuses values that no database can store, such as NaN in metadata.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from ctx_core.errors import InvalidInput
from ctx_core.serving.problems import problems
from ctx_core.settings import Settings
from ctx_memory.records.entry import Change, Draft, EntryKind, Image
from ctx_memory.search.filters import HOLDS_NUL, NUL, normalized_tags

MAX_THREAD_LENGTH = 256  # as long as the column
MAX_ID = 2**31 - 1  # PostgreSQL's integer; SQLite's is larger
BYTES_PER_MB = 1024 * 1024
LARGEST_IMAGES = 10  # of an entry together: more is a folder, not a note

EMPTY = "cannot be empty or whitespace"


def _check_named(thread: str) -> str:
    """Return the name of a thread. Raises where it is blank or no database could compare it."""
    if not thread:
        raise PydanticCustomError("empty", EMPTY)
    if NUL in thread:
        raise PydanticCustomError("nul", HOLDS_NUL)
    return thread


def _decoded(value: Any) -> Any:
    """Return an object that may be given as JSON: `'{"a": 1}'` → `{"a": 1}`; other texts stay."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _check_id(value: Any) -> Any:
    """Return an id. Raises for a boolean: true would count as the id 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


Source = Literal["user", "agent"]
ThreadId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MAX_THREAD_LENGTH),
    AfterValidator(_check_named),
]
JsonObject = Annotated[dict[str, Any] | None, BeforeValidator(_decoded)]
EntryId = Annotated[int, BeforeValidator(_check_id), Field(ge=1, le=MAX_ID)]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class ImageLimits:
    """The largest size in bytes of one image, and of all images of an entry."""

    each: int
    total: int

    @classmethod
    def from_settings(cls, settings: Settings) -> "ImageLimits":
        each = int(settings.max_image_size_mb * BYTES_PER_MB)
        return cls(each, total=LARGEST_IMAGES * each)


class ImageArgument(BaseModel):
    """An image of an entry to store."""

    data: str = Field(description="The image's bytes in base64.")
    mime_type: str = Field(
        "image/png",
        pattern=r"^image/[A-Za-z0-9.+-]+$",
        max_length=128,
        validation_alias=AliasChoices("mime_type", "mimeType"),
        description="Such as image/png.",
    )
    metadata: JsonObject = Field(None, description="Anything known about the image.")
    position: int | None = Field(None, ge=0, le=MAX_ID, description="Its place.")


class EntryArgument(BaseModel):
    """One entry to store."""

    model_config = ConfigDict(extra="forbid")

    thread_id: ThreadId = Field(description="Thread that the entry belongs to.")
    source: Source = Field(description="Who it comes from.")
    text: str = Field(description="What to keep.")
    images: list[ImageArgument] | None = Field(None, description="Images that belong to it.")
    metadata: dict[str, Any] | None = Field(None, description="Any JSON object.")
    tags: list[str] | None = Field(None, description="Tags; case does not count.")

    def draft(self, collection: str, limits: ImageLimits) -> Draft:
        """Return the draft of the entry. Raises InvalidInput."""
        return Draft(
            kind=EntryKind.THREAD,
            collection=collection,
            text=check_not_blank(self.text),
            thread=self.thread_id,
            source=self.source,
            metadata=self.metadata or {},
            tags=normalized_tags(self.tags or ()),
            images=decode_images(self.images or (), limits),
        )


class ChangeArgument(BaseModel):
    """One entry to change; fields that are left out stay."""

    model_config = ConfigDict(extra="forbid")

    context_id: EntryId = Field(description="Entry to change.")
    text: str | None = Field(None, description="New text.")
    metadata: dict[str, Any] | None = Field(None, description="New metadata, all of it.")
    metadata_patch: dict[str, Any] | None = Field(
        None, description="Metadata to merge in; null removes a key."
    )
    tags: list[str] | None = Field(None, description="New tags, all of them.")
    images: list[ImageArgument] | None = Field(None, description="New images, all of them.")

    def change(self, limits: ImageLimits) -> Change:
        """Return the change of the entry. Raises InvalidInput, also where nothing is given."""
        if self.metadata is not None and self.metadata_patch is not None:
            raise InvalidInput(
                "metadata_patch",
                "cannot come with metadata: give metadata to replace all of it, or metadata_patch "
                "to change some of its keys",
            )
        given = (self.text, self.metadata, self.metadata_patch, self.tags, self.images)
        if all(value is None for value in given):
            raise InvalidInput(
                "context_id",
                "At least one field must be provided for update: text, metadata, metadata_patch, "
                "tags, images",
            )
        return Change(
            id=self.context_id,
            text=None if self.text is None else check_not_blank(self.text),
            metadata=self.metadata,
            metadata_patch=self.metadata_patch,
            tags=None if self.tags is None else normalized_tags(self.tags),
            images=None if self.images is None else decode_images(self.images, limits),
        )


def validated(model: type[Model], value: Any) -> Model:
    """Return an item of a batch. Raises InvalidInput with the first validation error."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = problems(error)[0]
        raise InvalidInput(first.field or "entry", first.message) from error


def check_not_blank(text: str) -> str:
    """Return the text. Raises InvalidInput where it is blank."""
    if not text.strip():
        raise InvalidInput("text", f"{EMPTY}: give the words to keep")
    return text


def decode_images(images: Sequence[ImageArgument], limits: ImageLimits) -> list[Image]:
    """Return the images as bytes. Raises InvalidInput where they exceed the limits."""
    decoded = [_image(number, image, limits) for number, image in enumerate(images)]
    if len({image.position for image in decoded}) < len(decoded):
        raise InvalidInput("images", "two have the same position; give each its own, or none any")
    total = sum(len(image.data) for image in decoded)
    if total > limits.total:
        raise InvalidInput(
            "images",
            f"have {_mb(total)} together and the limit is {_mb(limits.total)} "
            f"({LARGEST_IMAGES} times MAX_IMAGE_SIZE_MB); send fewer or smaller ones",
        )
    return decoded


def _image(number: int, image: ImageArgument, limits: ImageLimits) -> Image:
    field = f"images.{number}"
    try:
        data = base64.b64decode("".join(image.data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            f"{field}.data",
            "is not base64; send the bytes alone, encoded, without a data: prefix",
        ) from error
    if not data:
        raise InvalidInput(f"{field}.data", "is empty; leave the image out")
    if len(data) > limits.each:
        raise InvalidInput(
            f"{field}.data",
            f"has {_mb(len(data))} and the limit is {_mb(limits.each)} (MAX_IMAGE_SIZE_MB); "
            "send a smaller image",
        )
    position = number if image.position is None else image.position
    return Image(image.mime_type, data, image.metadata, position)


def _mb(size: int) -> str:
    return f"{size / BYTES_PER_MB:.3g} MB"
