"""An error about a place that a call leaves out names its repository, or the places there are."""

from pathlib import Path

import pytest
from fastmcp import Client

from tests.support.processes import environment, run_ctx, running
from tests.support.repositories import Repository

TEXTS = {
    "app": "def settle(items):\n    return sum(items)\n",
    "lib": "def rounded(item):\n    return round(item)\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the repositories `app` and `lib`."""
    for name, text in TEXTS.items():
        repository = Repository.create(tmp_path / name)
        repository.write(f"src/{name}.py", text)
        repository.commit()
    return tmp_path


async def test_errors_about_places_say_the_next_step(folder: Path) -> None:
    env = environment(folder / "data", CTX_WORKSPACE=str(folder / "app"), CTX_WATCH="off")
    for name in TEXTS:
        assert run_ctx(env, "index", str(folder / name)).returncode == 0
    with running(env) as server:
        async with Client(server.indexer_http) as client:

            async def error(tool: str, **arguments: str) -> str:
                answer = await client.call_tool(tool, arguments, raise_on_error=False)
                assert answer.is_error, answer
                return str((answer.structured_content or {})["error"])

            foreign = str(folder / "lib/src/lib.py")
            assert "give repo='lib'" in await error("read_code", path=foreign)
            assert "give repo='lib'" in await error("read_code", path="src/lib.py")
            assert "brings new files in" in await error("read_code", path="src/none.py")
            for tool in ("search_callers_for", "search_importers_for"):
                unknown = await error(tool, query="settle", under="none")
                assert "'none' is unknown; allowed: src" in unknown
            unknown = await error("search_commits_for", query="first", collection="none")
            assert unknown == "collection: nothing is indexed in 'none'; index with qdrant_index"
