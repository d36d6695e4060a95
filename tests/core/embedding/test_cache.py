"""The persistent cache of embeddings."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ctx_core import sqlite
from ctx_core.embedding import cache as cache_module
from ctx_core.embedding.cache import CachedEmbedder, EmbeddingCache
from tests.support.fakes import Counting


def test_nothing_is_computed_twice_not_even_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    texts = ["def a(): pass", "def b(): pass", "def a(): pass"]
    first = Counting()
    cached = CachedEmbedder(first, EmbeddingCache(path))
    rows = cached.embed_documents(texts)
    assert first.computed == texts[:2]
    cached.close()

    second = Counting()
    again = CachedEmbedder(second, EmbeddingCache(path))
    assert np.array_equal(again.embed_documents(texts), rows)
    assert second.computed == []
    again.close()


def test_only_what_is_new_is_computed(tmp_path: Path) -> None:
    counting = Counting()
    cached = CachedEmbedder(counting, EmbeddingCache(tmp_path / "cache.sqlite"))
    cached.embed_documents(["old"])
    rows = cached.embed_documents(["new", "old"])
    assert counting.computed == ["old", "new"]
    assert np.allclose(rows, counting.embed_documents(["new", "old"]), atol=1e-3)
    cached.close()


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    one, other = Counting("one"), Counting("other")
    CachedEmbedder(one, cache).embed_documents(["text"])
    CachedEmbedder(other, cache).embed_documents(["text"])
    assert other.computed == ["text"]
    cache.close()


def test_more_texts_than_one_statement_takes(tmp_path: Path) -> None:
    counting = Counting()
    cached = CachedEmbedder(counting, EmbeddingCache(tmp_path / "cache.sqlite"))
    texts = [f"text {n}" for n in range(1700)]
    rows = cached.embed_documents(texts)
    assert np.array_equal(cached.embed_documents(texts), rows)
    assert len(counting.computed) == 1700
    cached.close()


def test_no_texts(tmp_path: Path) -> None:
    cached = CachedEmbedder(Counting(), EmbeddingCache(tmp_path / "cache.sqlite"))
    assert cached.embed_documents([]).shape == (0, cached.dims)
    cached.close()


def test_a_damaged_file_is_renamed_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is not a database" * 100)
    cache = EmbeddingCache(path)
    cache.put("m", [(b"k", np.ones(3, np.float32))])
    assert list(cache.get("m", [b"k"])) == [b"k"]
    cache.close()
    assert (tmp_path / "cache.damaged").read_bytes().startswith(b"this is not")
    assert "damaged" in caplog.text


def test_a_locked_file_is_bypassed_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_SECONDS", 0.1)
    path = tmp_path / "cache.sqlite"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    cached = CachedEmbedder(Counting(), EmbeddingCache(path))
    assert cached.embed_documents(["text"]).shape == (1, cached.dims)
    assert cached.cache_failures == 1  # the file is not asked again at once
    assert "locked" in (cached.cache_problem or "")
    holder.close()
    assert [file.name for file in tmp_path.iterdir()] == ["cache.sqlite"]


def test_a_full_disk_is_bypassed_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """`max_page_count` makes SQLite fail as a full disk does."""
    monkeypatch.setattr(cache_module, "RETRY_SECONDS", 0.0)
    counting = Counting()
    cache = EmbeddingCache(tmp_path / "cache.sqlite")
    cached = CachedEmbedder(counting, cache)
    assert cache._db is not None
    cache._db.execute("PRAGMA max_page_count=1")
    texts = [f"text {n}" for n in range(300)]
    rows = cached.embed_documents(texts)
    assert np.allclose(rows, counting.embed_documents(texts), atol=1e-3)
    assert cached.cache_failures == 1
    assert "is full" in (cached.cache_problem or "")
    assert "is full" in caplog.text

    cache._db.execute("PRAGMA max_page_count=100000")
    cached.embed_documents(texts)
    counting.computed.clear()
    cached.embed_documents(texts)
    assert counting.computed == []
    assert cached.cache_problem is None
    cached.close()


def test_a_file_garbled_while_it_is_used_is_bypassed_and_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "RETRY_SECONDS", 0.0)
    path = tmp_path / "cache.sqlite"
    texts = [f"text {n}" for n in range(300)]
    filled = CachedEmbedder(Counting(), EmbeddingCache(path))
    rows = filled.embed_documents(texts)
    filled.close()
    content = path.read_bytes()
    half = len(content) // 2  # the header and the schema stay readable
    path.write_bytes(content[:4096] + b"\xa5" * half + content[4096 + half :])

    counting = Counting()
    cached = CachedEmbedder(counting, EmbeddingCache(path))
    assert np.array_equal(cached.embed_documents(texts), rows)
    assert cached.cache_failures >= 1
    cached.embed_documents(texts)
    counting.computed.clear()
    assert np.array_equal(cached.embed_documents(texts), rows)
    assert counting.computed == []
    assert cached.cache_problem is None
    cached.close()


@pytest.mark.parametrize("vector", [b"", b"abc", b"\0\0", b"\xff" * 512], ids=repr)
def test_a_vector_that_cannot_be_the_models_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vector: bytes
) -> None:
    monkeypatch.setattr(cache_module, "RETRY_SECONDS", 0.0)
    path = tmp_path / "cache.sqlite"
    filled = CachedEmbedder(Counting(), EmbeddingCache(path))
    rows = filled.embed_documents(["text"])
    filled.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE vectors SET vector = ?", [vector])
    again = CachedEmbedder(Counting(), EmbeddingCache(path))
    assert np.array_equal(again.embed_documents(["text"]), rows)
    again.close()
