"""One outside system has one room that uses it; one room reads the environment."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT, Import, imports, sources

# The modules of an outside system, and the files (or folders) that may import them.
OUTSIDE: dict[str, tuple[str, ...]] = {
    "qdrant_client": ("services/ctx_core/vectors/server/",),
    "qdrant_edge": ("services/ctx_core/vectors/edge/",),
    "filelock": (
        "services/ctx_core/access/token_file.py",
        "services/ctx_core/vectors/folder_lock.py",
        "services/ctx_memory/knowledge/lock.py",
        "services/ctx_memory/knowledge/runs.py",
    ),
    "sqlalchemy": ("services/ctx_memory/records/",),
    "aiosqlite": ("services/ctx_memory/records/",),
    "asyncpg": ("services/ctx_memory/records/",),
    "alembic": ("services/ctx_memory/records/",),
    "sqlite3": (
        "services/ctx_core/embedding/cache.py",
        "services/ctx_core/sqlite.py",
        "services/ctx_indexer/manifest/",
        "services/ctx_memory/records/backup.py",
    ),
    "fastembed": ("services/ctx_core/embedding/", "services/ctx_core/rerank/"),
    "onnxruntime": ("services/ctx_core/embedding/", "services/ctx_core/rerank/"),
    "tokenizers": ("services/ctx_core/embedding/",),
    "tree_sitter": ("services/ctx_indexer/syntax/",),
    "tree_sitter_language_pack": ("services/ctx_indexer/syntax/",),
    "re2": ("services/ctx_indexer/lookup/",),
    "watchdog": ("services/ctx_indexer/watch/",),
    "llama_cpp": ("services/ctx_core/llm/",),
    "httpx": ("services/ctx_core/llm/", "services/ctx_core/vectors/server/"),
    "py_rust_stemmers": ("services/ctx_core/text/",),
    "fastmcp": ("services/ctx_core/serving/",),
    "mcp": ("services/ctx_core/serving/",),
    "mcp_types": ("services/ctx_core/serving/",),
    "starlette": ("services/ctx_core/serving/",),
    "uvicorn": ("services/ctx_core/serving/http/",),
    "prometheus_client": ("services/ctx_core/serving/",),
    "opentelemetry": ("services/ctx_core/serving/tracing.py",),
    "pydantic_settings": ("services/ctx_core/settings/",),
    "tomlkit": ("services/ctx_core/toml.py",),
    "click": ("ctx/",),
    "rich": ("ctx/terminal.py",),
    # Programs: git, the Qdrant child, ctx itself in the background. Nobody else starts a process.
    "subprocess": (
        "ctx/background.py",
        "ctx/commands/code/prompt.py",
        "services/ctx_core/git/",
        "services/ctx_core/vectors/server/",
    ),
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
ENVIRONMENT_READERS = ("services/ctx_core/environment/", "services/ctx_core/settings/")


def is_outside_its_room(found: Import) -> bool:
    rooms = OUTSIDE.get(found.module.split(".")[0])
    return rooms is not None and not found.path.startswith(rooms)


def environment_reads(source: str) -> Iterator[str]:
    """`os.environ` and its like, however they are imported."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from (each.name for each in node.names if each.name in ENVIRONMENT)
        elif isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT:
            yield node.attr


def test_one_outside_system_has_one_room() -> None:
    assert [str(i) for path in sources() for i in imports(path) if is_outside_its_room(i)] == []


@pytest.mark.parametrize(
    ("path", "module", "wrong"),
    [
        ("services/ctx_core/vectors/validation.py", "qdrant_client.models", True),
        ("services/ctx_core/vectors/edge/store.py", "qdrant_client", True),
        ("services/ctx_indexer/indexing/plan.py", "subprocess.run", True),
        ("services/ctx_core/git/process.py", "subprocess.run", False),
        ("services/ctx_core/vectors/edge/store.py", "qdrant_edge.EdgeShard", False),
    ],
)
def test_the_law_of_outside_systems_can_fail(path: str, module: str, wrong: bool) -> None:
    assert is_outside_its_room(Import(path, 1, module)) is wrong


def test_only_settings_reads_the_environment() -> None:
    readers = {
        name
        for path in sources()
        for _ in environment_reads(path.read_text())
        if not (name := path.relative_to(ROOT).as_posix()).startswith(ENVIRONMENT_READERS)
    }
    assert readers == set()


@pytest.mark.parametrize(
    "source",
    ["import os\nos.environ['A']", "from os import environ", "import os as o\no.getenv('A')"],
)
def test_the_law_of_the_environment_can_fail(source: str) -> None:
    assert list(environment_reads(source))


def test_the_rooms_of_outside_systems_exist() -> None:
    """A room that moved leaves a line here that allows nothing."""
    later = {"services/ctx_indexer/watch/"}
    rooms = {room for rooms in OUTSIDE.values() for room in rooms} - later
    assert {room for room in rooms if not Path(ROOT, room).exists()} == set()
