"""A collection that an earlier version built: refused by searches, rebuilt by an index run."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from ctx_core.errors import ModelMismatch
from ctx_core.vectors.points import Point
from ctx_core.vectors.specs import BM25, DENSE, CollectionSpec
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.schema import fields
from ctx_indexer.schema.earlier import EARLIER_BM25
from ctx_indexer.schema.payload import decode
from ctx_indexer.schema.points import INDEX_VERSION, spec
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from tests.indexer.conftest import REPO, Bench
from tests.support.fakes import Counting
from tests.support.repositories import Repository, function

OTHER = "other"


def earlier_payload(payload: dict[str, Any]) -> dict[str, Any]:
    """What version 3 stored of the same chunk."""
    chunk = decode(payload)
    names = ("symbol", "symbol_path", "start_line", "end_line", "def_line", "imports", "calls")
    details = {name: getattr(chunk, name) for name in (*names, "blob", "modified_at", "indexed_at")}
    flags = {name: getattr(chunk.flags, name) for name in ("is_generated", "is_vendored")}
    kept = {
        name: value
        for name, value in payload.items()
        if name not in (fields.DETAILS, fields.RANK_FEATURES)
    }
    kept[fields.KIND] = chunk.kind
    return {**kept, "told": json.dumps(details | flags), "weighed": "[]"}


async def write_earlier(bench: Bench, *, drop: Iterable[str] = ()) -> None:
    """Turn the collection and its rows into those of version 3, without some payload fields."""
    ours = spec(bench.model)
    page, more = await bench.store.scroll(bench.collection, limit=1000, vectors=[DENSE, BM25])
    assert more is None
    await bench.store.delete_collection(bench.collection)
    earlier = CollectionSpec(ours.dense, (EARLIER_BM25,), indexes=ours.indexes, model=ours.model)
    await bench.store.ensure_collection(bench.collection, earlier)
    points = []
    for record in page:
        payload = earlier_payload(dict(record.payload))
        vectors = {DENSE: record.vectors[DENSE], EARLIER_BM25: record.vectors[BM25]}
        points.append(
            Point(record.id, vectors, {k: v for k, v in payload.items() if k not in drop})
        )
    await bench.store.upsert(bench.collection, points)
    for repo in (REPO, OTHER):
        key = RepoKey("test", bench.collection, repo)
        rows = (await bench.manifest.versions.of_repo(key)).values()
        older = [replace(row, index_version=INDEX_VERSION - 1) for row in rows]
        await bench.manifest.versions.begin(key, older)


@pytest.fixture
async def outdated(bench: Bench, repository: Repository) -> Bench:
    """Two repos of the same files in a collection of version 3."""
    repository.write("a.py", function("alpha"))
    repository.write("src/b.py", function("beta"))
    for repo in (REPO, OTHER):
        await bench.index(repository.root, repo=repo)
    await write_earlier(bench)
    return bench


async def search(bench: Bench, query: str) -> set[tuple[str, str]]:
    result = await Searcher(bench.store, bench.model).search(
        View(bench.collection), SearchRequest(parse_queries(query))
    )
    return {(hit.chunk.repo, hit.chunk.path) for hit in result.hits}


async def test_a_search_names_the_remedy(outdated: Bench) -> None:
    with pytest.raises(
        ModelMismatch, match=f"ctx index --recreate --collection {outdated.collection}"
    ):
        await search(outdated, "alpha")


async def test_an_index_run_rebuilds_it_and_keeps_the_other_repos(
    outdated: Bench, repository: Repository
) -> None:
    before = await outdated.store.count(outdated.collection)
    report = await outdated.index(repository.root)
    assert (report.recreated, report.added, report.copied) == (True, 2, {OTHER: 2})
    info = await outdated.store.collection_info(outdated.collection)
    assert (info.spec, info.points_count) == (spec(outdated.model), before)
    found = await search(outdated, "alpha")
    assert {(REPO, "a.py"), (OTHER, "a.py")} <= found
    [ours, theirs] = [await outdated.chunks(repo) for repo in (REPO, OTHER)]
    unlike: dict[str, Any] = {"repo": "", "indexed_at": 0.0, "kinds": (), "definitions": ()}
    assert {replace(c, **unlike) for c in ours.values()} == {
        replace(c, **unlike) for c in theirs.values()
    }
    again = await outdated.index(repository.root)
    assert (again.recreated, again.unchanged) == (False, 2)
    other = await outdated.index(repository.root, repo=OTHER)
    assert (other.recreated, other.changed) == (False, 2)  # rows of version 3: written once more


async def test_a_run_over_a_subdir_rebuilds_the_whole_repo(
    outdated: Bench, repository: Repository
) -> None:
    report = await outdated.index(repository.root, subdir="src")
    assert (report.recreated, report.added, report.subdir) == (True, 2, "")
    assert (await outdated.texts()).keys() == {"a.py", "src/b.py"}


async def test_chunks_that_are_older_still_are_left_out_with_a_warning(
    outdated: Bench, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    await outdated.index(repository.root)
    await write_earlier(outdated, drop=["told"])
    report = await outdated.index(repository.root)
    assert (report.recreated, report.copied) == (True, {})
    assert "2 chunks of other repos are too old" in caplog.text
    assert (await outdated.index(repository.root, repo=OTHER)).written == 2


async def test_another_model_is_still_refused_until_recreated(
    outdated: Bench, repository: Repository
) -> None:
    indexer = Indexer(outdated.store, Counting("another"), outdated.manifest, store_key="test")
    options: dict[str, Any] = {"collection": outdated.collection, "repo": REPO}
    with pytest.raises(ModelMismatch, match="recreate"):
        await indexer.index(repository.root, **options)
    report = await indexer.index(repository.root, **options, recreate=True)
    assert (report.added, report.copied) == (2, {OTHER: 2})
