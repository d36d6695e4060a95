"""What ranking weighs of a chunk, worked out when it is indexed and read back in one piece.

A chunk's id comes from its content, so what is known of it stays true.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from services.core.text.tokens import parts, terms

WEIGHED = "weighed"  # the payload field that holds it
SHARED = 4_096  # paths and lists of names whose terms are kept: neighbouring chunks share them

# Code that was kept for old callers, and code that only shows how to call: seldom what is meant.
_ASIDE = re.compile(
    r"(?:^|/)_?(?:compat|deprecated|legacy|v1|examples?|benchmarks?|bench)(?:/|\.|$)"
)
_VERSION = re.compile(r"(?<![^/])v([0-9]{1,3})/")


class ChunkLocation(NamedTuple):
    """Where a chunk stands; also the order of what scores the same, on every machine."""

    repo: str
    path: str
    line: int


class Features(NamedTuple):
    """A chunk as the ranking sees it. `symbols` are in lower case, terms are stems."""

    location: ChunkLocation
    kind: str
    symbol_path: str
    symbols: frozenset[str]
    file_words: tuple[str, ...]
    name_terms: frozenset[str]
    symbol_words: tuple[str, ...]
    is_test: bool
    is_docs: bool
    is_generated: bool
    is_aside: bool


def features(known: Mapping[str, Any]) -> Features:
    """Of everything that is known of a chunk."""
    path = str(known["path"])
    names = tuple(known["symbols"])
    return Features(
        location=ChunkLocation(str(known["repo"]), path, int(known["start_line"])),
        kind=str(known["kind"]),
        symbol_path=str(known["symbol_path"]),
        symbols=frozenset(names),
        file_words=_file_words(path),
        name_terms=_terms(names),
        symbol_words=tuple(parts(str(known["symbol"]))),
        is_test=bool(known["is_test"]),
        is_docs=bool(known["is_docs"]),
        is_generated=bool(known["is_generated"] or known["is_vendored"]),
        is_aside=bool(_ASIDE.search(path)),
    )


@lru_cache(maxsize=SHARED)
def version(path: str) -> tuple[str, int] | None:
    """Where versions stand beside each other, and which one this is: src/v4/core.ts → src/, 4."""
    found = _VERSION.search(path)
    return (path[: found.start()], int(found[1])) if found else None


@lru_cache(maxsize=SHARED)
def _file_words(path: str) -> tuple[str, ...]:
    return tuple(parts(path.rpartition("/")[2].partition(".")[0]))


@lru_cache(maxsize=SHARED)
def _terms(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(term for name in names for term in terms(name))


def packed(chunk: Features) -> str:
    """All but the repo and path, which are stored beside it."""
    flags = (chunk.is_test, chunk.is_docs, chunk.is_generated, chunk.is_aside)
    return json.dumps(
        [
            chunk.location.line,
            chunk.kind,
            chunk.symbol_path,
            sorted(chunk.symbols),
            sorted(chunk.name_terms),
            chunk.symbol_words,
            *(int(flag) for flag in flags),
        ]
    )


def unpacked(repo: str, path: str, text: str) -> Features:
    line, kind, symbol_path, symbols, names, symbol, test, docs, generated, aside = json.loads(text)
    return Features(
        ChunkLocation(repo, path, line),
        kind,
        symbol_path,
        frozenset(symbols),
        _file_words(path),
        frozenset(names),
        tuple(symbol),
        bool(test),
        bool(docs),
        bool(generated),
        bool(aside),
    )
