"""Metadata as numbers, one for each value in its place, by which Qdrant answers equality.

Two values may share a number, and an entry with very many has none of its own: SQL admits what was
found, and answers the other operators.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

from services.core.vectors.types import Condition, MatchAny
from services.memory.records.filters.case_folding import fold
from services.memory.records.filters.operators import Operator
from services.memory.records.filters.paths import is_index
from services.memory.records.types import MetadataFilter

FACTS = "facts"
MOST_FACTS = 64  # of one entry; more would weigh on the index of all
OVERFLOW = 0  # the only number of an entry with more: it may have any value
ELEMENT = "[]"  # the place of a list's elements, whichever they are

Steps = tuple[str, ...]


def facts(metadata: Mapping[str, Any]) -> list[int]:
    """The numbers of an entry's metadata."""
    found = set(islice(_facts((), metadata), MOST_FACTS + 1))
    return sorted(found) if len(found) <= MOST_FACTS else [OVERFLOW]


def told(filters: Sequence[MetadataFilter]) -> list[Condition]:
    """What Qdrant can be told of the filters: whoever passes them has these facts."""
    return [MatchAny(FACTS, asked) for each in filters if (asked := _asked(each)) is not None]


def _asked(wanted: MetadataFilter) -> list[int] | None:
    steps = tuple(wanted.path)
    if any(is_index(step) for step in steps):
        return None  # perhaps the place in a list, perhaps a key
    match wanted.operator:
        case Operator.EQ:
            numbers = {_fact(steps, wanted.value)}
        case Operator.IN:
            numbers = {_fact(steps, each) for each in wanted.value}
        case Operator.ARRAY_CONTAINS:
            numbers = {_fact((*steps, ELEMENT), wanted.value)}
        case _:
            return None
    return sorted(numbers | {OVERFLOW})


def _facts(steps: Steps, value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield from _facts((*steps, key), inside)
    elif isinstance(value, list):
        for element in value:
            if not isinstance(element, Mapping | list):
                yield _fact((*steps, ELEMENT), element)
    else:
        yield _fact(steps, value)


def _fact(steps: Steps, value: Any) -> int:
    return crc32(json.dumps([*steps, _compared(value)]).encode())


def _compared(value: Any) -> Any:
    """What equal values have in common: 1 and 1.0, or a word in capitals and in small letters."""
    if isinstance(value, str):
        return f"'{fold(value)}"
    if isinstance(value, bool) or value is None:
        return value
    try:
        return repr(float(value) + 0.0)  # and no zero below zero
    except OverflowError:
        return "huge"
