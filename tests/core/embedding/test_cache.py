"""The persistent cache of embeddings."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from services.core import sqlite
from services.core.embedding.cache import CachedEmbedder, EmbeddingCache
from services.core.errors import StorageFailed
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


def test_a_locked_file_is_an_error_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_SECONDS", 0.1)
    path = tmp_path / "cache.sqlite"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageFailed, match=r"locked.*may be deleted"):
        EmbeddingCache(path)
    holder.close()
    assert [file.name for file in tmp_path.iterdir()] == ["cache.sqlite"]
