"""The laws of the architecture, read off the source itself."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("services.core", "services.indexer", "services.memory", "ctx")

# A room may import itself and these.
MAY_IMPORT = {
    "services.core": {"services.core"},
    "services.indexer": {"services.core", "services.indexer"},
    "services.memory": {"services.core", "services.memory"},
    "ctx": set(ROOMS),
}

# One outside system, one place that imports it.
OUTSIDE = {
    "qdrant_client": "services/core/vectors/",
    "qdrant_edge": "services/core/vectors/",
    "filelock": "services/core/vectors/",
    "sqlalchemy": "services/memory/records/",
    "aiosqlite": "services/memory/records/",
    "asyncpg": "services/memory/records/",
    "alembic": "services/memory/records/",
    "sqlite3": (
        "services/core/embedding/cache.py",
        "services/core/sqlite.py",
        "services/indexer/state.py",
        "services/memory/records/backup.py",
    ),
    "fastembed": "services/core/embedding/",
    "onnxruntime": "services/core/embedding/",
    "tokenizers": "services/core/embedding/",
    "tree_sitter": "services/indexer/",
    "tree_sitter_language_pack": "services/indexer/",
    "llama_cpp": "services/core/llm/",
    "py_rust_stemmers": "services/core/tokens.py",
    "fastmcp": "services/core/serving/",
    "mcp": "services/core/serving/",
    "uvicorn": "services/core/serving/",
    "starlette": "services/core/serving/",
    "prometheus_client": "services/core/serving/",
    "pydantic_settings": "services/core/settings.py",
}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "manager", "base", "misc"}
LONGEST_FILE = 400
TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docker-compose.yml",
    "ctx",
    "services",
    "scripts",
    "deploy",
    "tests",
    "docs",
}


@dataclass(frozen=True)
class Import:
    """One import statement of a file."""

    path: str
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def sources() -> list[Path]:
    return sorted([*ROOT.glob("services/**/*.py"), *ROOT.glob("ctx/**/*.py")])


def imports(path: Path) -> Iterator[Import]:
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (Import(name, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno} imports relatively"
            yield Import(name, node.lineno, node.module or "")


def room_of(module: str) -> str | None:
    return next((r for r in ROOMS if module == r or module.startswith(r + ".")), None)


def wrong_direction(found: Import) -> bool:
    home = room_of(found.path.removesuffix(".py").replace("/", "."))
    target = room_of(found.module)
    return home is not None and target is not None and target not in MAY_IMPORT[home]


def outside_its_place(found: Import) -> bool:
    place = OUTSIDE.get(found.module.split(".")[0])
    return place is not None and not found.path.startswith(place)


def test_imports_point_one_way() -> None:
    offenders = [str(i) for path in sources() for i in imports(path) if wrong_direction(i)]
    assert offenders == []


@pytest.mark.parametrize(
    ("path", "module", "wrong"),
    [
        ("services/core/parts.py", "services.memory.records", True),
        ("services/indexer/tools.py", "services.memory.entries", True),
        ("services/memory/tools.py", "services.indexer.tools", True),
        ("services/memory/tools.py", "ctx.up", True),
        ("services/memory/tools.py", "services.core.errors", False),
        ("ctx/up.py", "services.memory.service", False),
    ],
)
def test_the_direction_law_can_fail(path: str, module: str, wrong: bool) -> None:
    assert wrong_direction(Import(path, 1, module)) is wrong


def test_one_outside_system_has_one_place() -> None:
    offenders = [str(i) for path in sources() for i in imports(path) if outside_its_place(i)]
    assert offenders == []


def test_only_settings_reads_the_environment() -> None:
    readers = [
        path.relative_to(ROOT).as_posix()
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in ("environ", "getenv", "environb")
    ]
    assert set(readers) == {"services/core/settings.py"}


def test_files_are_named_by_a_noun_and_short() -> None:
    assert [p.name for p in sources() if p.stem in NAMELESS] == []
    long = {p.name: n for p in sources() if (n := len(p.read_text().splitlines())) > LONGEST_FILE}
    assert long == {}


def test_the_top_level_is_as_agreed() -> None:
    import subprocess

    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    top = {name.split("/")[0] for name in tracked}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL
