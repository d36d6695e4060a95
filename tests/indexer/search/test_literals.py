"""Queries that hold a constant, header, option or error code find the places that contain it."""

from pathlib import Path

import pytest

from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from tests.indexer.conftest import Bench

FILES = {
    "settings.py": (
        'AUTH_TOKENS = "CTX_AUTH_TOKENS"\n\n\ndef read(env):\n    return env[AUTH_TOKENS]\n'
    ),
    "auth/tokens.py": (
        '"""Tokens of the authentication."""\n\n\n'
        "def read_tokens(text):\n"
        '    """Read the tokens of the authentication, where they are set."""\n'
        "    return [token for token in text.split() if token]\n"
    ),
    "server/toolsets.go": (
        "package server\n\n// Toolsets chooses the toolsets of a request by its header.\n"
        "func Toolsets(request Request) []string {\n"
        "\treturn choose(request.Body)\n}\n"
    ),
    "server/guard.go": (
        "package server\n\nfunc guard(request Request) bool {\n"
        '\treturn request.Header.Get("X-MCP-Toolsets") != ""\n}\n'
    ),
    "checks/models.ts": (
        "/** Checks of models, which report errors. */\n"
        "export function checkModels(models: Model[]): Problem[] {\n"
        "  return models.flatMap((model) => check(model));\n}\n"
    ),
    "checks/tables.ts": (
        "export function checkTables(tables: Table[]): Problem[] {\n"
        '  return [new Problem("models.E028", tables)];\n}\n'
    ),
    "src/Limits.java": "class Limits {\n  static final int MAX_OPEN_FILES = 20;\n}\n",
    "src/Files.java": (
        "class Files {\n  /** Opens files up to the maximum of open files. */\n"
        "  void open() {\n    if (count > Limits.MAX_OPEN_FILES) throw new TooMany();\n  }\n}\n"
    ),
    "src/cli.rs": 'fn options() -> Vec<Arg> {\n    vec![Arg::new("--no-cache-dir")]\n}\n',
    "src/cache.rs": (
        "/// The folder of the cache, or none.\nfn cache_dir() -> Option<Path> {\n    None\n}\n"
    ),
}
EXPECTED = {
    "where is CTX_AUTH_TOKENS read": ["settings.py"],
    "which header chooses toolsets: X-MCP-Toolsets": ["server/guard.go"],
    "X-MCP-Toolsets": ["server/guard.go"],
    "models.E028": ["checks/tables.ts"],
    "which check of models reports models.E028": ["checks/tables.ts"],
    "what is MAX_OPEN_FILES when files are opened": ["src/Limits.java", "src/Files.java"],
    "the folder of the cache with --no-cache-dir": ["src/cli.rs"],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


async def test_places_that_contain_it_come_first_the_definition_before_uses(
    bench: Bench, workspace: Path
) -> None:
    await bench.index(workspace)
    searcher = Searcher(bench.store, bench.engine.embedder)
    for query, expected in EXPECTED.items():
        found = await searcher.search(View(bench.collection), SearchRequest(parse_queries(query)))
        paths = [hit.chunk.path for hit in found.hits]
        assert paths[: len(expected)] == expected, query
