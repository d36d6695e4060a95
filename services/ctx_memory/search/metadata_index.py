"""Metadata as hashes in the payload, by which Qdrant answers equality.

Every value becomes a hash of its path and itself. Two values may share a hash, and an entry with
too many values has only OVERFLOW: SQL re-checks every candidate, and answers other operators.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

from ctx_core.vectors.queries import Condition, MatchAny
from ctx_memory.records.entry import MetadataFilter
from ctx_memory.records.filters.operators import Operator
from ctx_memory.records.filters.paths import is_index
from ctx_memory.records.folding import fold

METADATA_HASHES = "metadata_hashes"  # payload field
MAX_HASHES = 64  # of one entry: more would slow the index for all entries
OVERFLOW = 0  # the only hash of an entry with more values: it matches every condition
ELEMENT = "[]"  # the path step of a list's elements, whatever their position

Steps = tuple[str, ...]


def metadata_hashes(metadata: Mapping[str, Any]) -> list[int]:
    """Return the hashes of an entry's metadata, or OVERFLOW where there are too many."""
    hashes = set(islice(_hashes((), metadata), MAX_HASHES + 1))
    return sorted(hashes) if len(hashes) <= MAX_HASHES else [OVERFLOW]


def equality_conditions(filters: Sequence[MetadataFilter]) -> list[Condition]:
    """Return Qdrant conditions for the filters that equality of hashes can express.

    They are necessary, not sufficient: SQL re-checks every candidate.
    """
    hashes = [_filter_hashes(each) for each in filters]
    return [MatchAny(METADATA_HASHES, each) for each in hashes if each is not None]


def all_expressible(filters: Sequence[MetadataFilter]) -> bool:
    """Whether every filter has its Qdrant condition."""
    return all(_filter_hashes(each) is not None for each in filters)


def _filter_hashes(given: MetadataFilter) -> list[int] | None:
    steps = tuple(given.path)
    if any(is_index(step) for step in steps):
        return None  # a number may be a position in a list or a key: the hashes differ
    match given.operator:
        case Operator.EQ:
            hashes = {_hash(steps, given.value)}
        case Operator.IN:
            hashes = {_hash(steps, value) for value in given.value}
        case Operator.ARRAY_CONTAINS:
            hashes = {_hash((*steps, ELEMENT), given.value)}
        case _:
            return None
    return sorted(hashes | {OVERFLOW})


def _hashes(steps: Steps, value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _hashes((*steps, key), inner)
    elif isinstance(value, list):
        for element in value:
            if not isinstance(element, Mapping | list):
                yield _hash((*steps, ELEMENT), element)
    else:
        yield _hash(steps, value)


def _hash(steps: Steps, value: Any) -> int:
    return crc32(json.dumps([*steps, _canonical(value)]).encode())


def _canonical(value: Any) -> Any:
    """Return one form for values that filters take as equal: 1 and 1.0, "Word" and "word"."""
    if isinstance(value, str):
        return f"'{fold(value)}"
    if isinstance(value, bool) or value is None:
        return value
    try:
        return repr(float(value) + 0.0)  # adding 0.0 turns -0.0 into 0.0
    except OverflowError:
        return "huge"
