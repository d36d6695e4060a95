"""ENABLE_FTS, ENABLE_SEMANTIC_SEARCH and ENABLE_HYBRID_SEARCH decide what is offered."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ctx_core.settings import load
from tests.support.contract import Thread, memory_tools

SEARCHES = {"fts_search_context", "semantic_search_context", "hybrid_search_context"}
OFF = {"enabled": False, "available": False}


@pytest.mark.parametrize(
    ("switched", "offered", "modes"),
    [
        ({"ENABLE_FTS": "false"}, SEARCHES - {"fts_search_context"}, ["semantic"]),
        ({"ENABLE_SEMANTIC_SEARCH": "0"}, SEARCHES - {"semantic_search_context"}, ["fts"]),
        ({"ENABLE_HYBRID_SEARCH": "no"}, SEARCHES - {"hybrid_search_context"}, None),
        (
            {"ENABLE_FTS": "false", "ENABLE_SEMANTIC_SEARCH": "false"},
            set(),
            None,
        ),
    ],
)
async def test_a_search_that_is_off_is_not_offered(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    switched: Mapping[str, str],
    offered: set[str],
    modes: list[str] | None,
) -> None:
    for name, value in {"CTX_DATA_DIR": str(tmp_path / "data"), **switched}.items():
        monkeypatch.setenv(name, value)
    settings = load()
    async with memory_tools(settings) as tools:
        listed = {tool.name for tool in await tools.client.list_tools()}
        assert listed & SEARCHES == offered
        for name in SEARCHES - offered:
            body = await tools.refused(name, query="anything")
            assert body["error_code"] == "VALIDATION_ERROR"
        statistics = await tools.call("get_statistics")
        for key, name in (
            ("fts", "fts_search_context"),
            ("semantic_search", "semantic_search_context"),
            ("hybrid_search", "hybrid_search_context"),
        ):
            assert (statistics[key] == OFF) is (name not in offered)
        if modes is not None:
            thread = Thread(tools)
            await thread.store("the broker restarts")
            body = await thread.search("hybrid_search_context", query="broker", explain_query=True)
            assert (body["count"], body["search_modes_used"]) == (1, modes)
            off = "semantic" if modes == ["fts"] else "fts"
            assert body["stats"][f"{off}_stats"] is None
            error = await tools.refused("hybrid_search_context", query="x", search_modes=[off])
            assert "switched off" in error["error"]
