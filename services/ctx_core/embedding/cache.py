"""A persistent cache of embeddings, by model and hash of the text."""

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ctx_core import sqlite
from ctx_core.batches import batches
from ctx_core.embedding.protocol import Embedder

log = logging.getLogger(__name__)

FILE_VERSION = 2  # a file of another version is emptied
HASH_BYTES = 16  # 128 bits: no collision is to be expected among any number of chunks
RETRY_SECONDS = 30.0  # a file that failed is not asked before: a locked one takes 10 s to refuse
LOG_SUFFIXES = ("-wal", "-shm")  # of the files that SQLite keeps beside its own
KEYS_PER_QUERY = 500  # below SQLite's limit on the variables of one statement

# Half the size of float32; it keeps 99.99 % of a vector's direction.
STORED_TYPE = np.float16

Row = NDArray[np.float32]
T = TypeVar("T")


class EmbeddingCache:
    """One SQLite file, shared by every process that uses the data folder.

    It saves time and nothing else: no error of it is raised. After one it answers as if empty for
    RETRY_SECONDS; `failures` counts them, and `problem` is the last one until it works again.
    """

    def __init__(self, path: Path) -> None:
        self.failures = 0
        self.problem: str | None = None
        self._path = path
        self._lock = threading.Lock()
        self._retry_at = 0.0
        self._db: sqlite3.Connection | None = None
        self._try(lambda _: None)

    def get(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return the cached vectors by key, without keys that are not cached. Blocks."""

        def read(db: sqlite3.Connection) -> dict[bytes, Row]:
            vectors: dict[bytes, Row] = {}
            model_id = _model_id(db, model)
            for batch in batches(keys, KEYS_PER_QUERY):
                marks = ",".join("?" * len(batch))
                rows = db.execute(
                    f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})",
                    [model_id, *batch],
                )
                vectors.update((key, _decode(vector)) for key, vector in rows)
            return vectors

        return self._try(read) or {}

    def put(self, model: str, rows: Iterable[tuple[bytes, Row]]) -> None:
        """Store vectors by key; keys that are cached stay as they are. Blocks."""
        encoded = [(key, row.astype(STORED_TYPE).tobytes()) for key, row in rows]

        def write(db: sqlite3.Connection) -> None:
            # The id is read in the transaction: another process may have emptied the file.
            db.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", [model])
            model_id = _model_id(db, model)
            db.executemany(
                "INSERT OR IGNORE INTO vectors (model, key, vector) VALUES (?, ?, ?)",
                [(model_id, key, vector) for key, vector in encoded],
            )

        self._try(write)

    def close(self) -> None:
        with self._lock:
            self._disconnect()

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run a transaction; None where it fails, or another one failed just before."""
        with self._lock:
            if time.monotonic() < self._retry_at:
                return None
            try:
                self._db = self._db or _connect(self._path)
                with self._db:
                    result = work(self._db)
            except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a garbled vector
                self._note(error)
                return None
            self.problem = None
            return result

    def _note(self, error: Exception) -> None:
        self.failures += 1
        self._retry_at = time.monotonic() + RETRY_SECONDS
        self.problem = (
            f"the embedding cache {self._path} fails ({error}) and is bypassed: see whether the "
            "disk is full; with the servers stopped it may be deleted, and is filled again"
        )
        log.warning("%s", self.problem)
        if not isinstance(error, sqlite3.OperationalError):  # not locked or full, but damaged
            self._mark_damaged()

    def _mark_damaged(self) -> None:
        """Have the file emptied when it is opened again."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("PRAGMA user_version=0")
        self._disconnect()

    def _disconnect(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None


class CachedEmbedder:
    """An embedder behind the cache. Queries are not cached: they rarely come again."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.cache_hits = 0
        self.cache_misses = 0

    @property
    def cache_failures(self) -> int:
        """How often the cache failed and was bypassed."""
        return self._cache.failures

    @property
    def cache_problem(self) -> str | None:
        """Why the cache is bypassed; None where it works."""
        return self._cache.problem

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dims(self) -> int:
        return self._embedder.dims

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [content_key(text) for text in texts]
        found = self._cache.get(self.name, list(dict.fromkeys(keys)))
        vectors = {key: row for key, row in found.items() if self._is_sound(row)}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        self.cache_hits += len(vectors)
        self.cache_misses += len(missing)
        if missing:
            rows = self._embedder.embed_documents(list(missing.values()))
            # Rounded as the cache rounds, so that a text always has the same vector.
            computed = dict(zip(missing, _rounded(rows), strict=True))
            self._cache.put(self.name, computed.items())
            vectors.update(computed)
        if not keys:
            return np.empty((0, self.dims), np.float32)
        return np.stack([vectors[key] for key in keys])

    def _is_sound(self, row: Row) -> bool:
        """Whether a cached vector can be one of this model: the file may be garbled."""
        return row.shape == (self.dims,) and bool(np.isfinite(row).all())

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._embedder.embed_words(words)

    def close(self) -> None:
        self._cache.close()


def content_key(text: str) -> bytes:
    """Return the hash of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def _model_id(db: sqlite3.Connection, model: str) -> int | None:
    row = db.execute("SELECT id FROM models WHERE name = ?", [model]).fetchone()
    return None if row is None else int(row[0])


def _rounded(rows: Row) -> Row:
    return rows.astype(STORED_TYPE).astype(np.float32)


def _decode(vector: bytes) -> Row:
    return np.frombuffer(vector, STORED_TYPE).astype(np.float32)


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file; one that is damaged is moved away, and begun anew. Raises sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return sqlite.connect(path, _create_tables)
    except sqlite3.OperationalError:  # locked, or the disk is full: not damaged
        raise
    except sqlite3.DatabaseError as error:
        damaged = path.with_suffix(".damaged")
        log.warning("embedding cache %s is damaged (%s): moved to %s", path, error, damaged)
        path.replace(damaged)
        for left in LOG_SUFFIXES:  # of the damaged file: they must not be applied to the new one
            path.with_name(path.name + left).unlink(missing_ok=True)
        return sqlite.connect(path, _create_tables)


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
