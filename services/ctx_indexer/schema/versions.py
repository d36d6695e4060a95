"""The number of a file version, which all points of one content of a file have."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from ctx_core.vectors.queries import Condition, Filter, MatchAny
from ctx_indexer.schema.fields import FILE_VERSION

ID_BYTES = 8  # of a signed integer, whose sign is never used
CACHED_VERSIONS = 8  # the chunks of a file are encoded one after the other


@lru_cache(maxsize=CACHED_VERSIONS)
def version_id(repo: str, path: str, blob: str) -> int:
    """Return the number of a file version: the same in every checkout that has it."""
    key = f"{repo}\0{path}\0{blob}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=ID_BYTES).digest(), "big") >> 1


def without_versions(where: Filter | None, hidden: Sequence[int]) -> Filter | None:
    """Narrow a filter to the points that are of no hidden version."""
    if not hidden:
        return where
    must: list[Condition] = [where] if where else []
    return Filter(must=must, must_not=[MatchAny(FILE_VERSION, list(hidden))])
