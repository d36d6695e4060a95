"""What is wrong with arguments, in words for a client: without names of our classes and types."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

MISSING = "Missing required argument"
OBJECT_EXPECTED = "Input should be an object"
TIME_EXPECTED = "Input should be a time in ISO 8601, such as 2025-11-29 or 2025-11-29T10:00:00Z"
WORDS = {"model_type": OBJECT_EXPECTED, "dict_type": OBJECT_EXPECTED}
# Where pydantic tried several types, the place of a problem also names the type.
_TYPE = re.compile(r"(?:str|int|float|bool|[a-z]+\[.*\]|(?:function|constrained|nullable)-.*)")
_BEGINNING = "Input should be "


class Problem(NamedTuple):
    """One wrong argument: its place, with dots, and what it should be."""

    field: str
    message: str


def problems(error: ValidationError) -> Sequence[Problem]:
    """Return what is wrong, one problem a place.

    Of the types that an argument may have, those that the value comes closest to are named.
    """
    found: dict[str, list[str]] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        messages = found.setdefault(_place(item), [])
        if (message := _message(item)) not in messages:
            messages.append(message)
    inner = [place for place in found if not any(each.startswith(f"{place}.") for each in found)]
    return [Problem(place, _joined(found[place])) for place in inner]


def _place(item: ErrorDetails) -> str:
    first, *others = item["loc"] or ("",)
    kept = [part for part in others if isinstance(part, int) or not _TYPE.fullmatch(part)]
    return ".".join(map(str, [first, *kept]))


def _message(item: ErrorDetails) -> str:
    kind = item["type"]
    if kind.startswith("missing"):
        return MISSING
    if kind.startswith("datetime_"):
        return TIME_EXPECTED
    return WORDS.get(kind, item["msg"])


def _joined(messages: Sequence[str]) -> str:
    first, *others = messages
    return " or ".join([first, *(each.removeprefix(_BEGINNING) for each in others)])
