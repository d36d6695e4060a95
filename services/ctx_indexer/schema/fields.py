"""The payload fields of a chunk: names, indexes, the number of a file version, and filters."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from ctx_core.vectors.queries import Condition, Filter, Match, MatchAny
from ctx_core.vectors.specs import IndexKind

REPO = "repo"
PATH = "path"
FILE_VERSION = "file_version"  # of repo, path and blob: checkouts differ in them
FOLDERS = "dirs"  # every folder above the file
EXTENSION = "ext"
LANGUAGE = "language"
KIND = "kind"  # of everything that the chunk holds
SYMBOLS = "symbols"  # in lower case
IS_TEST = "is_test"
IS_CONFIG = "is_config"
IS_DOCS = "is_docs"
MENTIONS = "mentions"  # names that the file calls, imports or inherits, at its first chunk
SYMBOL_TABLE = "symbol_table"  # of the file, at its first chunk
RANK_FEATURES = "rank_features"
DETAILS = "details"
TEXT = "text"

ID_BYTES = 8  # of a signed integer, whose sign is never used
CACHED_VERSIONS = 8  # the chunks of a file are encoded one after the other

INDEXES = {
    REPO: IndexKind.KEYWORD,
    PATH: IndexKind.KEYWORD,
    FILE_VERSION: IndexKind.INTEGER,
    FOLDERS: IndexKind.KEYWORD,
    EXTENSION: IndexKind.KEYWORD,
    LANGUAGE: IndexKind.KEYWORD,
    KIND: IndexKind.KEYWORD,
    SYMBOLS: IndexKind.KEYWORD,
    MENTIONS: IndexKind.KEYWORD,
    IS_TEST: IndexKind.BOOL,
    IS_CONFIG: IndexKind.BOOL,
    IS_DOCS: IndexKind.BOOL,
}


def repo_filter(repo: str) -> Filter:
    """Select the chunks of a repo."""
    return Filter(must=[Match(REPO, repo)])


def copied_filter(repo: str, versions: Sequence[int]) -> Filter:
    """Select the chunks of every repo but one, and of that one those of some file versions."""
    others = Filter(must_not=[Match(REPO, repo)])
    if not versions:
        return others
    own = Filter(must=[Match(REPO, repo), MatchAny(FILE_VERSION, list(versions))])
    return Filter(should=[others, own])


def files_filter(repo: str, paths: Sequence[str]) -> Filter:
    """Select the chunks of some files of a repo."""
    return Filter(must=[Match(REPO, repo), MatchAny(PATH, list(paths))])


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
