"""Importing another system's summaries, once."""

import json
from pathlib import Path

import pytest

from ctx_core.settings import Settings
from ctx_memory.records.conversations.relations import Direction, RelationType
from tests.support.threads import serving


def _write(folder: Path) -> None:
    folder.mkdir()
    summary = {
        "contextId": "src/a.js",
        "lastUpdated": 1_700_000_000_000,
        "summary": "The scheduler retries three times",
        "codeBlocks": [{"language": "js", "code": "retry(3)", "importance": 0.7}, "plain()"],
        "messageCount": 12,
        "version": 1,
        "keyInsights": ["Why three?"],
        "importanceScore": 0.75,
    }
    (folder / "src_a.js.json").write_text(json.dumps(summary))
    (folder / "known.json").write_text(json.dumps({"contextId": "known", "summary": "theirs"}))
    (folder / "broken.json").write_text("{")
    (folder / "other.json").write_text('{"nodes": []}')
    (folder / "link.json").symlink_to("/etc/hostname")


async def test_a_folder_is_imported_once(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "contexts"
    _write(folder)
    async with serving(settings) as (memory, _):
        await memory.conversations.messages.add("known", "user", "ours", None, [])
    importing = settings.model_copy(update={"context_dir": folder})
    async with serving(importing) as (memory, _):
        conversations = memory.conversations
        assert set(await conversations.messages.context_ids()) == {"src/a.js", "known"}
        found = await conversations.messages.retrieve("src/a.js")
        assert found["summary"] is not None
        assert found["summary"]["lastUpdated"] == 1_700_000_000_000
        assert found["summary"]["codeBlocks"] == ["retry(3)", "plain()"]
        assert found["summary"]["messageCount"] == 12
        assert found["summary"]["summaryBy"] == "imported"
        assert (await conversations.messages.retrieve("known"))["summary"] is None, "ours stays"
        similar = await conversations.similarity.find("how often does the scheduler retry", 1)
        assert [id_ for id_, _ in similar.found] == ["src/a.js"]
        await conversations.messages.add("src/a.js", "user", "Now it retries five times.", None, [])
        summary = await conversations.messages.summarize("src/a.js")
        assert summary is not None
        assert (summary["version"], summary["messageCount"]) == (2, 13)
        assert "three times" in summary["summary"]
    async with serving(importing) as (memory, _):
        found = await memory.conversations.messages.retrieve("src/a.js")
        assert found["summary"] is not None
        assert found["summary"]["version"] == 2, "not imported again"


def _write_graph(folder: Path) -> None:
    """Three contexts, a hierarchy, a meta-summary and edges, as files of that system."""
    (folder / "graph").mkdir(parents=True)
    for name in ("hierarchical-summaries", "meta-summaries"):
        (folder / name).mkdir()
    for id_ in ("app", "a.js", "b.js"):
        body = {"contextId": id_, "summary": f"summary of {id_}"}
        (folder / f"{id_}.summary.json").write_text(json.dumps(body))
    (folder / "app.metadata.json").write_text('{"contextId": "app"}')
    hierarchy = {
        "contextId": "app",
        "childContextIds": ["a.js", "b.js"],
        "summary": "both files",
        "lastUpdated": 1_700_000_000_000,
        "hierarchyLevel": 1,
    }
    (folder / "hierarchical-summaries/app.hierarchical.json").write_text(json.dumps(hierarchy))
    meta = {
        "id": "meta_1",
        "summary": "the whole",
        "contextIds": ["app"],
        "updatedAt": 1_700_000_000_000,
    }
    (folder / "meta-summaries/meta_1.meta.json").write_text(json.dumps(meta))
    (folder / "meta-summaries/broken.meta.json").write_text("[]")
    edges = [
        {"source": "a.js", "target": "b.js", "type": "references", "weight": 0.9, "metadata": {}},
        {"source": "app", "target": "a.js", "type": "parent", "weight": 0.4},
        {"source": "a.js", "target": "b.js", "type": "hates", "weight": 1},
        {"source": "a.js", "target": "b.js", "type": "continues", "weight": 7},
        "no edge",
    ]
    (folder / "graph/context-graph.json").write_text(json.dumps({"edges": edges}))


async def test_hierarchies_meta_summaries_and_edges_are_imported(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "contexts"
    _write_graph(folder)
    importing = settings.model_copy(update={"context_dir": folder})
    with caplog.at_level("INFO"):
        async with serving(importing) as (memory, _):
            run = memory.conversations.actions.run
            hierarchy = await run({"action": "get_hierarchy", "contextId": "app"})
            metas = await run({"action": "get_meta"})
            meta = await run({"action": "get_meta", "metaId": "meta_1"})
            related = await run({"action": "get_related", "contextId": "a.js"})
            path = await run({"action": "find_path", "contextId": "app", "targetId": "b.js"})
            records = memory.conversations.records
            weights = {
                (each.source, each.target, each.type.value): each.weight
                for id_ in ("app", "a.js", "b.js")
                for each in await records.relations.of(id_, None, Direction.OUTGOING)
            }
    assert hierarchy["hierarchicalStructure"]["children"] == ["b.js", "a.js"]
    summary = hierarchy["hierarchicalSummary"]
    assert (summary["summary"], summary["summaryBy"]) == ("both files", "imported")
    assert summary["lastUpdated"] == 1_700_000_000_000
    assert summary["childContextIds"] == ["a.js", "b.js"]
    assert metas["metaSummaryIds"] == ["meta_1"]
    assert meta["metaSummary"]["summary"] == "the whole"
    assert meta["metaSummary"]["contextIds"] == ["app"]
    assert set(related["relatedContexts"]) == {"b.js", "app"}
    assert path["path"][0] == "app"
    assert weights == {
        ("app", "a.js", "parent"): 0.4,
        ("a.js", "app", "child"): 0.4,
        ("app", "b.js", "parent"): 0.8,
        ("b.js", "app", "child"): 0.8,
        ("a.js", "b.js", "references"): 0.9,
    }
    logged = caplog.text
    assert "imported 3 contexts, 2 summaries of summaries and 3 relationships" in logged
    assert "4 parts" in logged


async def test_relationships_and_summaries_of_ours_stay(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "contexts"
    _write_graph(folder)
    async with serving(settings) as (memory, _):
        run = memory.conversations.actions.run
        await run(
            {
                "action": "add_relationship",
                "contextId": "a.js",
                "targetId": "b.js",
                "relationshipType": "references",
                "strength": 0.2,
            }
        )
    importing = settings.model_copy(update={"context_dir": folder})
    async with serving(importing) as (memory, _):
        relations = memory.conversations.records.relations
        [edge] = await relations.of("a.js", RelationType.REFERENCES, Direction.OUTGOING)
    assert edge.weight == 0.2
