"""Embeddings that were computed once are never computed again: a table by model and text hash."""

import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.core import sqlite
from services.core.batches import batches
from services.core.embedding.protocol import Embedder
from services.core.errors import StorageFailed

log = logging.getLogger(__name__)

LAYOUT = 2  # of the file; one of another layout is emptied
HASH_BYTES = 16  # 128 bits: no collision to be expected among any number of chunks
KEYS_PER_QUERY = 500  # below SQLite's limit on the variables of one statement

# Half the bytes of what is computed with; 99.99 % of a vector's direction is kept.
STORED = np.float16

Row = NDArray[np.float32]


class EmbeddingCache:
    """One SQLite file, shared by every process that uses the data folder."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._db = sqlite.connect(path, _lay_out)
        except sqlite3.OperationalError as error:  # held by another, no room: not damage
            raise StorageFailed(
                f"The embedding cache {path} cannot be opened: {error}. See who holds it and "
                "whether the disk is full; with the servers stopped it may be deleted, and is "
                "filled again."
            ) from error
        except sqlite3.DatabaseError as error:
            aside = path.with_suffix(".damaged")
            log.warning("embedding cache %s is damaged (%s): moved to %s", path, error, aside)
            path.replace(aside)
            self._db = sqlite.connect(path, _lay_out)
        self._numbers = _read_numbers(self._db)

    def get(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The vectors that are there, by key."""
        found: dict[bytes, Row] = {}
        with self._lock:
            number = self._numbers.get(model)
            for batch in batches(keys, KEYS_PER_QUERY):
                marks = ",".join("?" * len(batch))
                rows = self._db.execute(
                    f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})",
                    [number, *batch],
                )
                found.update((key, _read(vector)) for key, vector in rows)
        return found

    def put(self, model: str, rows: Iterable[tuple[bytes, Row]]) -> None:
        with self._lock:
            number = self._numbers.get(model) or self._enter(model)
            with self._db:
                self._db.executemany(
                    "INSERT OR IGNORE INTO vectors (model, key, vector) VALUES (?, ?, ?)",
                    [(number, key, row.astype(STORED).tobytes()) for key, row in rows],
                )

    def _enter(self, model: str) -> int:
        """Committed before anybody uses the number."""
        with self._db:
            self._db.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", [model])
        self._numbers = _read_numbers(self._db)
        return self._numbers[model]

    def close(self) -> None:
        with self._lock:
            self._db.close()


class CachedEmbedder:
    """An embedder that asks the cache first. Queries are not kept: they rarely come back."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dims(self) -> int:
        return self._embedder.dims

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [content_key(text) for text in texts]
        known = self._cache.get(self.name, list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            computed = self._embedder.embed_documents(list(missing.values()))
            # As they will be read back: a text has one vector, whichever way it comes.
            fresh = dict(zip(missing, _rounded(computed), strict=True))
            self._cache.put(self.name, fresh.items())
            known.update(fresh)
        if not keys:
            return np.empty((0, self.dims), np.float32)
        return np.stack([known[key] for key in keys])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._embedder.embed_words(words)

    def close(self) -> None:
        self._cache.close()


def content_key(text: str) -> bytes:
    """The hash that stands for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _read_numbers(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("SELECT name, id FROM models").fetchall())


def _rounded(rows: Row) -> Row:
    return rows.astype(STORED).astype(np.float32)


def _read(vector: bytes) -> Row:
    return np.frombuffer(vector, STORED).astype(np.float32)


def _lay_out(db: sqlite3.Connection) -> None:
    """Vectors are appended, and found by a small index: hashes come in no order, so that vectors
    kept in theirs would be written all over the file."""
    db.execute("BEGIN IMMEDIATE")
    [layout] = db.execute("PRAGMA user_version").fetchone()
    if layout != LAYOUT:
        for table in ("embeddings", "vectors", "models"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(f"PRAGMA user_version={LAYOUT}")
    db.execute("CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
    db.execute(
        "CREATE TABLE IF NOT EXISTS vectors ("
        "model INTEGER NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (model, key))"
    )
