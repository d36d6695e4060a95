"""Embeddings that were computed once are never computed again: a table by model and text hash."""

import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.core.embedding.protocol import Embedder

log = logging.getLogger(__name__)

HASH_BYTES = 16  # 128 bits: no collision to be expected among any number of chunks
KEYS_A_QUERY = 500  # below SQLite's limit on the variables of one statement
BUSY_TIMEOUT_SECONDS = 10.0  # another process may be writing the same cache

Row = NDArray[np.float32]


class EmbeddingCache:
    """One SQLite file, shared by every process that uses the data folder."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._db = _open(path)
        except sqlite3.DatabaseError as error:
            aside = path.with_suffix(".damaged")
            log.warning("embedding cache %s is damaged (%s): moved to %s", path, error, aside)
            path.replace(aside)
            self._db = _open(path)

    def get(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The vectors that are there, by key."""
        found: dict[bytes, Row] = {}
        with self._lock:
            for start in range(0, len(keys), KEYS_A_QUERY):
                batch = keys[start : start + KEYS_A_QUERY]
                marks = ",".join("?" * len(batch))
                rows = self._db.execute(
                    f"SELECT key, vector FROM embeddings WHERE model = ? AND key IN ({marks})",
                    [model, *batch],
                )
                found.update((key, np.frombuffer(vector, np.float32)) for key, vector in rows)
        return found

    def put(self, model: str, rows: Iterable[tuple[bytes, Row]]) -> None:
        with self._lock, self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO embeddings (model, key, vector) VALUES (?, ?, ?)",
                [(model, key, row.astype(np.float32).tobytes()) for key, row in rows],
            )

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
            fresh = dict(zip(missing, computed, strict=True))
            self._cache.put(self.name, fresh.items())
            known.update(fresh)
        if not keys:
            return np.empty((0, self.dims), np.float32)
        return np.stack([known[key] for key in keys])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        self._cache.close()


def content_key(text: str) -> bytes:
    """The hash that stands for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")  # a lost row is computed again
        db.execute(
            "CREATE TABLE IF NOT EXISTS embeddings ("
            "model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, "
            "PRIMARY KEY (model, key)) WITHOUT ROWID"
        )
        db.commit()
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db
