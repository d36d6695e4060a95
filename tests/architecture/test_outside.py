"""One outside system has one room that uses it; one room reads the environment."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT, Import, imports, sources

# The modules of an outside system, and the files (or folders) that may import them.
OUTSIDE: dict[str, tuple[str, ...]] = {
    "qdrant_client": ("services/core/vectors/server/",),
    "qdrant_edge": ("services/core/vectors/edge/",),
    "filelock": (
        "services/core/access/token_file.py",
        "services/core/vectors/folder_lock.py",
        "services/memory/knowledge/lock.py",
        "services/memory/knowledge/runs.py",
    ),
    "sqlalchemy": ("services/memory/records/",),
    "aiosqlite": ("services/memory/records/",),
    "asyncpg": ("services/memory/records/",),
    "alembic": ("services/memory/records/",),
    "sqlite3": (
        "services/core/embedding/cache.py",
        "services/core/sqlite.py",
        "services/indexer/indexing/manifest.py",
        "services/memory/records/backup.py",
    ),
    "fastembed": ("services/core/embedding/", "services/core/rerank/"),
    "onnxruntime": ("services/core/embedding/", "services/core/rerank/"),
    "tokenizers": ("services/core/embedding/",),
    "tree_sitter": ("services/indexer/syntax/",),
    "tree_sitter_language_pack": ("services/indexer/syntax/",),
    "re2": ("services/indexer/lookup/",),
    "watchdog": ("services/indexer/watch/",),
    "llama_cpp": ("services/core/llm/",),
    "httpx": ("services/core/llm/", "services/core/vectors/server/"),
    "py_rust_stemmers": ("services/core/text/",),
    "fastmcp": ("services/core/serving/",),
    "mcp": ("services/core/serving/",),
    "mcp_types": ("services/core/serving/",),
    "starlette": ("services/core/serving/",),
    "uvicorn": ("services/core/serving/http/",),
    "prometheus_client": ("services/core/serving/",),
    "opentelemetry": ("services/core/serving/tracing.py",),
    "pydantic_settings": ("services/core/settings/",),
    "click": ("ctx/",),
    "rich": ("ctx/terminal.py",),
    # Programs: git, the Qdrant child, ctx itself in the background. Nobody else starts a process.
    "subprocess": (
        "ctx/background.py",
        "ctx/commands/code/prompt.py",
        "services/core/git.py",
        "services/core/vectors/server/",
    ),
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
ENVIRONMENT_READERS = ("services/core/environment/", "services/core/settings/")


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
        ("services/core/vectors/validation.py", "qdrant_client.models", True),
        ("services/core/vectors/edge/store.py", "qdrant_client", True),
        ("services/indexer/indexing/plan.py", "subprocess.run", True),
        ("services/core/git.py", "subprocess.run", False),
        ("services/core/vectors/edge/store.py", "qdrant_edge.EdgeShard", False),
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
    later = {"services/indexer/watch/"}
    rooms = {room for rooms in OUTSIDE.values() for room in rooms} - later
    assert {room for room in rooms if not Path(ROOT, room).exists()} == set()
