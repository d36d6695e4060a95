"""The kind `comment` finds comments in every language, and docstrings in Python."""

from pathlib import Path

import pytest

from ctx_indexer.search.definition_choice import choose_definitions
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_query
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from tests.indexer.conftest import Bench

FILES = {
    "a.py": 'def load(x):\n    """Load zebra stripes from disk."""\n    x = 1\n    return x\n',
    "a.ts": "/** Load zebra stripes. */\nexport function load(x: number) {\n  return x;\n}\n",
    "a.go": "package a\n\n// Load reads zebra stripes.\nfunc Load(x int) int {\n\treturn x\n}\n",
    "a.rs": "/// Load zebra stripes.\npub fn load(x: u8) -> u8 {\n    x\n}\n",
    "A.java": "class A {\n  /** Load zebra stripes. */\n  int load() {\n    return 1;\n  }\n}\n",
    "a.cpp": "// Load zebra stripes.\nint load(int x) {\n  return x;\n}\n",
    "a.rb": "# Load zebra stripes.\ndef load(x)\n  x\nend\n",
    "plain.py": "def zebra_stripes(x):\n    return x\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


async def test_comments_of_every_language_are_found_with_their_lines(
    bench: Bench, workspace: Path
) -> None:
    await bench.index(workspace)
    searcher = Searcher(bench.store, bench.engine.embedder)
    query, filters = parse_query("zebra stripes"), SearchFilters(kinds=("comment",))
    found = await searcher.search(View(bench.collection), SearchRequest([query], filters))
    assert {hit.chunk.path for hit in found.hits} == FILES.keys() - {"plain.py"}
    for hit in found.hits:
        [span] = choose_definitions(hit.chunk, query, filters)
        rows = FILES[hit.chunk.path].split("\n")
        assert span.kind == "comment"
        assert "zebra" in "\n".join(rows[span.start_line - 1 : span.end_line])
