"""Questions of people who use a project find its documentation; those about code find code."""

from pathlib import Path

import pytest

from ctx_indexer.search.query import parse_queries, parse_query
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from tests.indexer.conftest import Bench

FILES = {
    "README.md": "# Shop\n\nIt runs on port 8000: start it with `shop serve`.\n",
    "docs/clients.md": (
        "# Clients\n\n## Cursor\n\nTo configure Cursor, write the address of the server into "
        "`~/.cursor/mcp.json`.\n"
    ),
    "CHANGELOG.md": (
        "# Changelog\n\n## 2.0\n\n- Orders can be cancelled.\n\n"
        + "".join(f"## 1.{minor}\n\n- Smaller fixes of orders.\n\n" for minor in range(60, 0, -1))
    ),
    "CONTRIBUTING.md": "# Contributing\n\nOpen a pull request with a test.\n",
    "shop/database.py": (
        '"""The database."""\n\n\n'
        "def configure(cursor):\n"
        '    """Configure a cursor: how many rows it reads at once."""\n'
        "    cursor.arraysize = 100\n"
    ),
    "shop/release.py": (
        '"""Release locks."""\n\n\n'
        "def last_release(lock):\n"
        '    """Return when a lock was released last, and what changed."""\n'
        "    return lock.released\n"
    ),
    "shop/install.py": (
        '"""Install hooks."""\n\n\ndef install(shop):\n    """Install the hooks of a shop."""\n'
        "    shop.hooks = []\n"
    ),
}
EXPECTED = {
    "how do I configure Cursor": "docs/clients.md",
    "what changed in the last release": "CHANGELOG.md",
    "how can I contribute": "CONTRIBUTING.md",
    "how do I start it on another port": "README.md",
    "how is a cursor of the database configured": "shop/database.py",
    "when was a lock released last": "shop/release.py",
    "install hooks of a shop": "shop/install.py",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


async def test_each_question_finds_what_answers_it(bench: Bench, workspace: Path) -> None:
    await bench.index(workspace)
    searcher = Searcher(bench.store, bench.engine.embedder)
    for query, expected in EXPECTED.items():
        found = await searcher.search(View(bench.collection), SearchRequest(parse_queries(query)))
        assert found.hits[0].chunk.path == expected, query
    newest = await searcher.search(
        View(bench.collection), SearchRequest(parse_queries("what's new"))
    )
    assert newest.hits[0].chunk.path == "CHANGELOG.md"
    assert newest.hits[0].chunk.start_line == 1


@pytest.mark.parametrize(
    "query",
    [
        "how ClientSession acquires and releases connections",
        "WebSocket upgrade and handler",
        "how setup and teardown hooks are called",
        "how plugin installations are managed",
    ],
)
def test_questions_about_code_ask_for_no_documentation(query: str) -> None:
    parsed = parse_query(query)
    assert not parsed.asks_usage
    assert not parsed.asks_changes
