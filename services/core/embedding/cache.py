"""A persistent cache of embeddings, by model and hash of the text."""

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

FILE_VERSION = 2  # a file of another version is emptied
HASH_BYTES = 16  # 128 bits: no collision is to be expected among any number of chunks
KEYS_PER_QUERY = 500  # below SQLite's limit on the variables of one statement

# Half the size of float32; it keeps 99.99 % of a vector's direction.
STORED_TYPE = np.float16

Row = NDArray[np.float32]


class EmbeddingCache:
    """One SQLite file, shared by every process that uses the data folder."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        try:
            self._db = sqlite.connect(path, _create_tables)
        except sqlite3.OperationalError as error:  # locked, or the disk is full: not damaged
            raise StorageFailed(
                f"The embedding cache {path} cannot be opened: {error}. See who holds it and "
                "whether the disk is full; with the servers stopped it may be deleted, and is "
                "filled again."
            ) from error
        except sqlite3.DatabaseError as error:
            damaged = path.with_suffix(".damaged")
            log.warning("embedding cache %s is damaged (%s): moved to %s", path, error, damaged)
            path.replace(damaged)
            self._db = sqlite.connect(path, _create_tables)
        self._model_ids = _read_model_ids(self._db)

    def get(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return the cached vectors by key, without keys that are not cached. Blocks."""
        vectors: dict[bytes, Row] = {}
        with self._lock:
            model_id = self._model_ids.get(model)
            for batch in batches(keys, KEYS_PER_QUERY):
                marks = ",".join("?" * len(batch))
                rows = self._db.execute(
                    f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})",
                    [model_id, *batch],
                )
                vectors.update((key, _decode(vector)) for key, vector in rows)
        return vectors

    def put(self, model: str, rows: Iterable[tuple[bytes, Row]]) -> None:
        """Store vectors by key; keys that are cached stay as they are. Blocks."""
        with self._lock:
            model_id = self._model_ids.get(model) or self._add_model(model)
            with self._db:
                self._db.executemany(
                    "INSERT OR IGNORE INTO vectors (model, key, vector) VALUES (?, ?, ?)",
                    [(model_id, key, row.astype(STORED_TYPE).tobytes()) for key, row in rows],
                )

    def _add_model(self, model: str) -> int:
        """Return the id of a model, committed before a vector refers to it."""
        with self._db:
            self._db.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", [model])
        self._model_ids = _read_model_ids(self._db)
        return self._model_ids[model]

    def close(self) -> None:
        with self._lock:
            self._db.close()


class CachedEmbedder:
    """An embedder behind the cache. Queries are not cached: they rarely come again."""

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
        vectors = self._cache.get(self.name, list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            rows = self._embedder.embed_documents(list(missing.values()))
            # Rounded as the cache rounds, so that a text always has the same vector.
            computed = dict(zip(missing, _rounded(rows), strict=True))
            self._cache.put(self.name, computed.items())
            vectors.update(computed)
        if not keys:
            return np.empty((0, self.dims), np.float32)
        return np.stack([vectors[key] for key in keys])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._embedder.embed_words(words)

    def close(self) -> None:
        self._cache.close()


def content_key(text: str) -> bytes:
    """Return the hash of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _read_model_ids(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("SELECT name, id FROM models").fetchall())


def _rounded(rows: Row) -> Row:
    return rows.astype(STORED_TYPE).astype(np.float32)


def _decode(vector: bytes) -> Row:
    return np.frombuffer(vector, STORED_TYPE).astype(np.float32)


def _create_tables(db: sqlite3.Connection) -> None:
    """Create the tables; a file of another version is emptied first.

    Vectors are appended and found by an index: a table in the order of hashes would write all over
    the file.
    """
    db.execute("BEGIN IMMEDIATE")
    [version] = db.execute("PRAGMA user_version").fetchone()
    if version != FILE_VERSION:
        for table in ("embeddings", "vectors", "models"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(f"PRAGMA user_version={FILE_VERSION}")
    db.execute("CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
    db.execute(
        "CREATE TABLE IF NOT EXISTS vectors ("
        "model INTEGER NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (model, key))"
    )
