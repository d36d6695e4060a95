"""Near-duplicates among the code to learn from: copies teach nothing new, and one that answers the
same question elsewhere would be held against it as a wrong answer.

Two chunks count as the same when they agree in one of two keys. A key is made of the least hashes
of the chunk's shingles, so chunks that share 90 % of their shingles agree in one with 96 %
probability, and those that share half of them with 44 %.
"""

import re
import zlib
from collections.abc import Sequence

import numpy as np

from scripts.model.pairs import Pair

SHINGLE = 5  # words
LEAST = 2  # hashes of a key
ORDERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd: each puts the hashes in another order
KEPT_BITS = np.uint64(20)  # the low bits of a product are the least mixed
_WORD = re.compile(r"[a-z]+")

Key = tuple[int, ...]


def distinct(packages: Sequence[Sequence[Pair]]) -> list[list[Pair]]:
    """The pairs without those whose code another chunk, met before, has too."""
    owners: dict[Key, tuple[int, str]] = {}
    kept = []
    for number, pairs in enumerate(packages):
        kept.append([p for p in pairs if _is_own(keys(p.code), (number, p.chunk), owners)])
    return kept


def _is_own(
    found: Sequence[Key], chunk: tuple[int, str], owners: dict[Key, tuple[int, str]]
) -> bool:
    """Whether nobody else has one of the keys; who comes first has it."""
    return all(owners.setdefault(key, chunk) == chunk for key in found)


def keys(code: str) -> list[Key]:
    """What the code shares with its near-duplicates; whitespace, marks and numbers do not count."""
    words = _WORD.findall(code.lower())
    last = max(1, len(words) - SHINGLE + 1)
    shingles = [" ".join(words[i : i + SHINGLE]).encode() for i in range(last)]
    hashes = np.array([zlib.crc32(shingle) for shingle in shingles], np.uint64)
    return [_key(hashes, order) for order in ORDERS]


def _key(hashes: "np.ndarray[tuple[int], np.dtype[np.uint64]]", order: int) -> Key:
    mixed = np.unique((hashes * np.uint64(order)) >> KEPT_BITS)
    return order, *map(int, mixed[:LEAST])
