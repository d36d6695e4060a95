"""The cache of rank features over a real store."""

from pathlib import Path
from uuid import uuid4

import pytest

from ctx_core.errors import SearchFailed
from ctx_core.vectors.points import Point
from ctx_indexer.schema.points import spec
from ctx_indexer.search import feature_cache
from ctx_indexer.search.feature_cache import FeatureCache
from tests.indexer.conftest import Bench


async def test_stored_features_are_those_of_the_chunks(bench: Bench, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "one.py").write_text("class Retry:\n    def run(self):\n        return 1\n")
    (code / "test_one.py").write_text("def test_retry():\n    assert True\n")
    await bench.index(code)
    chunks = await bench.chunks()
    assert len(chunks) == 2
    features = await FeatureCache(bench.store).get(bench.collection, chunks)
    assert features == {chunk_id: chunk.features for chunk_id, chunk in chunks.items()}


async def test_the_cache_is_bounded_and_skips_what_is_gone(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_cache, "MAX_CHUNKS", 2)
    code = tmp_path / "code"
    code.mkdir()
    for name in "abc":
        (code / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    await bench.index(code)
    ids = list(await bench.chunks())
    cache = FeatureCache(bench.store)
    assert (await cache.get(bench.collection, [*ids, str(uuid4())])).keys() == set(ids)
    assert len(cache._features) == 2
    assert (await cache.get(bench.collection, ids)).keys() == set(ids)


async def test_a_chunk_of_another_version_asks_for_an_index_run(bench: Bench) -> None:
    old = Point(str(uuid4()), {}, {"repo": "r", "path": "a.py", "text": "x"})
    await bench.store.ensure_collection(bench.collection, spec(bench.model))
    await bench.store.upsert(bench.collection, [old])
    with pytest.raises(SearchFailed, match="ctx index"):
        await FeatureCache(bench.store).get(bench.collection, [old.id])
