"""What ranking weighs of a chunk survives being stored."""

from pathlib import Path
from uuid import uuid4

import pytest

from services.core.errors import SearchFailed
from services.core.vectors.types import Point
from services.indexer.schema.features import WEIGHED, features, packed, unpacked
from services.indexer.schema.points import facts, spec
from services.indexer.search.feature_cache import FeatureCache
from tests.indexer.conftest import Bench
from tests.indexer.search.test_ranking import PAYLOAD


def test_names_become_words_and_stems() -> None:
    named = {"path": "src/retry_policies.py", "symbol": "maxRetries", "symbols": ["max_retries"]}
    found = features(PAYLOAD | named)
    assert found.file_words == ("retry", "policies")
    assert found.symbol_words == ("max", "retries")
    assert found.name_terms == {"max", "retri", "max_retries"}


def test_packing_loses_nothing() -> None:
    odd = {"symbols": ["a b", 'quo"te', "ünï"], "symbol": "a b", "is_docs": True, "is_test": True}
    found = features(PAYLOAD | odd)
    assert unpacked("r", "src/thing.py", packed(found)) == found


async def test_what_is_stored_is_what_is_known(bench: Bench, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "one.py").write_text("class Retry:\n    def run(self):\n        return 1\n")
    (code / "test_one.py").write_text("def test_retry():\n    assert True\n")
    await bench.index(code)
    records = await bench.records()
    assert len(records) == 2
    known = await FeatureCache(bench.store).of(bench.collection, [each.id for each in records])
    assert known == {each.id: features(facts(each.payload)) for each in records}
    assert all(WEIGHED in each.payload for each in records)


async def test_a_chunk_of_another_version_asks_for_an_index_run(bench: Bench) -> None:
    old = Point(str(uuid4()), {}, {"repo": "r", "path": "a.py", "text": "x"})
    await bench.store.ensure_collection(bench.collection, spec(bench.model))
    await bench.store.upsert(bench.collection, [old])
    with pytest.raises(SearchFailed, match="ctx index"):
        await FeatureCache(bench.store).of(bench.collection, [old.id])
