"""The metadata of memories: checked, cleaned, and as tools take it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from ctx_core.clock import to_iso
from ctx_core.errors import InvalidInput

Kind = Annotated[str, Field(max_length=64)]  # any word; clients of other systems use their own
MAX_PRIORITY = 10


def scaled_priority(value: Any) -> Any:
    """Turn a priority from 0.0 to 1.0 into one from 1 to 10; whole numbers stay."""
    if isinstance(value, str):
        try:
            value = float(value) if "." in value else int(value)
        except ValueError:
            return value
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a number, not true or false")
    if not isinstance(value, int | float):
        return value
    is_share = 0 <= value <= 1 and (isinstance(value, float) or value == 0)
    return max(1, round(value * MAX_PRIORITY)) if is_share else value


EXPIRES_AT = "expires_at"  # metadata: from then on no search shows it
SUPERSEDES, SUPERSEDED_BY = "supersedes", "superseded_by"  # metadata: ids of memories
SUPERSEDED = "superseded"  # payload field: whether another memory took its place
TIMES = ("created_at", EXPIRES_AT)


def tag_list(value: Any) -> Any:
    """Split tags that come as one comma-separated string."""
    return value.split(",") if isinstance(value, str) else value


def clean_tags(tags: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


class Metadata(BaseModel):
    """The metadata of a memory. Other keys are kept as they are."""

    model_config = ConfigDict(extra="allow")

    kind: Kind | None = Field(None, description="Category of the entry.")
    language: str | None = Field(None, description="Programming language, such as python.")
    path: str | None = Field(None, description="File that the entry is about.")
    tags: Annotated[list[str] | None, BeforeValidator(tag_list)] = Field(
        None, description="Tags to find it by."
    )
    priority: Annotated[int | None, BeforeValidator(scaled_priority)] = Field(
        None, ge=1, le=MAX_PRIORITY, description="Importance, 10 is highest; 0.0 to 1.0 too."
    )
    topic: str | None = Field(None, description="High-level topic.")
    code: str | None = Field(None, description="The code itself, for a snippet.")
    author: str | None = Field(None, description="Who or what it comes from.")
    created_at: datetime | None = Field(
        None, description="ISO 8601 time, UTC where it names no zone; now when omitted."
    )
    expires_at: datetime | None = Field(None, description="From then on `find` leaves it out.")
    supersedes: str | None = Field(
        None, description="Id of a memory that this one replaces: `find` leaves that one out."
    )

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> "Metadata":
        """Validate metadata. Raises InvalidInput, which names the wrong value."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(["metadata", *map(str, first["loc"])])
            raise InvalidInput(where, first["msg"]) from error

    def record(self, now: datetime) -> dict[str, Any]:
        """Return the metadata to store: the given values, tags cleaned, the time in UTC."""
        return {**self.described(), "created_at": to_iso(self.created_at or now)}

    def described(self) -> dict[str, Any]:
        """Return the given values without the time."""
        values = self.model_dump(exclude_none=True, exclude={*TIMES, "tags"})
        if self.expires_at is not None:
            values[EXPIRES_AT] = to_iso(self.expires_at, "seconds")  # so that SQL compares texts
        if self.tags is not None:
            values["tags"] = clean_tags(self.tags)
        return values


Information = Annotated[str, Field(min_length=1, description="What to remember, in plain words.")]
MetadataArgument = Annotated[
    Metadata | None, Field(description="What the entry is about, to filter and sort by.")
]


def folded(text: str) -> str:
    return text.strip().casefold()
