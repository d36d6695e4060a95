"""The law of imports: which room may import which, and who may use an outside system."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Modules that every room may use.
EVERYWHERE = {"core.batches", "core.blocking", "core.bounded_cache", "core.clock", "core.files"}

# Values that outlines are made of: languages describe themselves by them.
SYNTAX_TYPES = {f"indexer.syntax.{file}" for file in ("blanks", "symbols.spec", "symbols.table")}
SYNTAX = {"indexer.syntax", *SYNTAX_TYPES}
# A language is known by its protocol and its name; no room knows a family of them.
LANGUAGES = {"indexer.languages.protocol", "indexer.languages.registry"}
# The questions that a family answers, with the values they are asked and answered with.
SEMANTICS = {"indexer.languages.semantics", *SYNTAX_TYPES}

# Modules that need no other.
ALONE = {"core.sqlite", "core.secrets", "core.confined_folder", "core.globs", "core.toml"}
# What a request is judged by.
SERVED = {"core.access", "core.errors", "core.settings"}
# How code is kept: files and checkouts in the manifest, chunks in the store.
KEPT = {"indexer.manifest", "indexer.schema"}

# Two dialects that search, summarise and answer alike.
CONVERSING = {
    "core.background",
    "core.embedding",
    "core.engine",
    "core.errors",
    "core.llm",
    "core.ranking",
    "core.secrets",
    "core.serving",
    "core.settings",
    "core.text",
    "core.vectors",
    "memory.projection",
    "memory.records",
    "memory.search",
    "memory.summaries",
}

# A room may import itself and these. A file beside the rooms (`service`, `__main__`) is a
# composition root: it builds the parts of its server and may import all of its rooms.
MAY_IMPORT: Mapping[str, set[str]] = {
    "core.errors": set(),
    "core.access": {"core.errors"},
    "core.git": {"core.environment", "core.errors", "core.settings"},
    "core.background": {"core.errors"},
    **{module: set() for module in EVERYWHERE | ALONE},
    "core.blocking": {"core.errors"},
    "core.environment": {"core.toml"},
    "core.settings": {"core.environment", "core.errors"},
    "core.text": {"core.vectors"},
    "core.embedding": {"core.errors", "core.sqlite"},
    "core.rerank": {"core.embedding", "core.errors"},
    "core.llm": {"core.errors", "core.settings"},
    "core.vectors": {"core.errors"},
    "core.vectors.edge": {"core.background", "core.errors", "core.vectors"},
    "core.vectors.server": {"core.errors", "core.vectors"},
    "core.vectors.factory": {
        "core.errors",
        "core.vectors",
        "core.vectors.edge",
        "core.vectors.server",
    },
    "core.engine": {
        "core.embedding",
        "core.errors",
        "core.settings",
        "core.vectors",
        "core.vectors.factory",
    },
    "core.serving": {*SERVED, "core.git"},
    "core.serving.mcp": {*SERVED, "core.serving"},
    "core.serving.http": {*SERVED, "core.environment", "core.serving", "core.serving.mcp"},
    "core.serving.process": {
        *SERVED,
        "core.environment",
        "core.serving",
        "core.serving.http",
        "core.serving.mcp",
    },
    "core.ranking": {"core.settings", "core.text"},
    "core.memories": {
        "core.embedding",
        "core.errors",
        "core.ranking",
        "core.serving.mcp",
        "core.text",
        "core.vectors",
    },
    "indexer.source": {
        *LANGUAGES,
        "core.confined_folder",
        "core.errors",
        "core.git",
        "core.globs",
        "core.secrets",
    },
    **dict.fromkeys(SYNTAX_TYPES, SYNTAX_TYPES),
    "indexer.languages.protocol": SYNTAX_TYPES,
    "indexer.languages.semantics": SYNTAX_TYPES,
    "indexer.languages.semantics.registry": {"indexer.languages", *SEMANTICS},
    "indexer.languages": {"indexer.languages.protocol", *SEMANTICS},  # a folder a family
    "indexer.languages.registry": {"indexer.languages", "indexer.languages.protocol"},
    "indexer.syntax": {*LANGUAGES, *SYNTAX_TYPES},
    "indexer.chunking": {"indexer.source", *LANGUAGES, *SYNTAX},
    "indexer.schema": {
        "core.access",
        "core.embedding",
        "core.errors",
        "core.text",
        "core.vectors",
        "indexer.chunking",
        "indexer.source",
        *LANGUAGES,
        *SYNTAX,
    },
    "indexer.manifest": {"core.errors", "core.sqlite", "core.vectors"},
    "indexer.indexing": {
        "core.access",
        "core.background",
        "core.confined_folder",
        "core.embedding",
        "core.errors",
        "core.secrets",
        "core.vectors",
        "indexer.chunking",
        *KEPT,
        "indexer.source",
        *SYNTAX,
    },
    "indexer.view": {"core.access", "core.errors", "core.vectors", *KEPT},
    "indexer.view.views": {
        "core.access",
        "core.serving",
        "indexer.indexing",
        "indexer.view",
        *KEPT,
    },
    "indexer.search": {
        "core.embedding",
        "core.engine",
        "core.errors",
        "core.globs",
        "core.rerank",
        "core.text",
        "core.vectors",
        "indexer.chunking",
        "indexer.schema",
        *SYNTAX,
        "indexer.view",
    },
    "indexer.graph": {
        *("core.blocking", "core.vectors", "indexer.schema", "indexer.view"),
        *("indexer.languages.semantics.registry", *SEMANTICS),
    },
    "indexer.watch": {
        "core.background",
        "core.confined_folder",
        "core.errors",
        "indexer.indexing",
        "indexer.manifest",
        "indexer.source",
    },
    "indexer.history": {
        "core.embedding",
        "core.errors",
        "core.git",
        "core.secrets",
        "core.text",
        "core.vectors",
        "indexer.source",
        "indexer.view",
    },
    "indexer.lookup": {
        "core.errors",
        "core.secrets",
        "core.vectors",
        "indexer.chunking",
        "indexer.graph",
        *KEPT,
        "indexer.search",
        "indexer.source",
        *SYNTAX,
        *LANGUAGES,
        "indexer.view",
    },
    "indexer.answers": {
        "core.errors",
        "core.llm",
        "core.text",
        "core.vectors",
        "indexer.chunking",
        "indexer.graph",
        "indexer.lookup",
        "indexer.search",
        *SYNTAX,
        "indexer.view",
    },
    "indexer.tools": {
        "core.access",
        "core.errors",
        "core.memories",
        "core.serving",
        "core.text",
        "core.vectors",
        "indexer.answers",
        "indexer.graph",
        "indexer.history",
        "indexer.indexing",
        "indexer.lookup",
        "indexer.schema",
        "indexer.search",
        "indexer.source",
        *SYNTAX,
        "indexer.watch",
        *LANGUAGES,
        "indexer.view",
        "indexer.view.views",
    },
    "memory.records": {"core.errors", "core.settings", "core.sqlite", "core.text"},
    "memory.projection": {
        "core.background",
        "core.embedding",
        "core.errors",
        "core.serving",
        "core.vectors",
        "memory.records",
    },
    "memory.search": {
        "core.embedding",
        "core.engine",
        "core.errors",
        "core.memories",
        "core.ranking",
        "core.rerank",
        "core.settings",
        "core.text",
        "core.vectors",
        "memory.projection",
        "memory.records",
    },
    "memory.summaries": {
        "core.background",
        "core.errors",
        "core.llm",
        "core.text",
        "memory.records",
    },
    "memory.memories": {
        "core.access",
        "core.embedding",
        "core.engine",
        "core.errors",
        "core.memories",
        "core.ranking",
        "core.secrets",
        "core.serving",
        "core.text",
        "core.vectors",
        "memory.projection",
        "memory.records",
        "memory.search",
    },
    "memory.knowledge": {
        "core.access",
        "core.background",
        "core.clock",
        "core.embedding",
        "core.engine",
        "core.errors",
        "core.files",
        "core.git",
        "core.ranking",
        "core.secrets",
        "core.serving",
        "core.settings",
        "core.text",
        "core.vectors",
        "memory.records",
        "memory.search",
    },
    "memory.threads": {*CONVERSING, "core.rerank"},
    "memory.conversations": {*CONVERSING},
}

# A server's composition root imports all of `core` and of its own server; `ctx` imports all.
SERVERS = ("core", "indexer", "memory")
PACKAGES = {f"ctx_{server}": server for server in SERVERS}  # below services/, a source root


@dataclass(frozen=True)
class Import:
    """One import statement of a file."""

    path: str
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def sources() -> list[Path]:
    """Every Python file that is shipped."""
    return sorted([*ROOT.glob("services/**/*.py"), *ROOT.glob("ctx/**/*.py")])


def imports(path: Path) -> Iterator[Import]:
    """The import statements of a file; `from package import module` counts as the module."""
    name = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (Import(name, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno} imports relatively"
            for alias in node.names:
                yield Import(name, node.lineno, f"{node.module}.{alias.name}")


def module_of(path: str) -> str:
    inside = path.removeprefix("services/").removesuffix(".py").removesuffix("/__init__")
    return inside.replace("/", ".")


def room_of(module: str) -> str | None:
    """The most special room that holds a module; a server where it lies beside the rooms."""
    package, *inside = module.split(".")
    if package == "ctx":
        return "ctx"
    if package not in PACKAGES:
        return None
    parts = [PACKAGES[package], *inside]
    for length in range(len(parts), 0, -1):
        if (room := ".".join(parts[:length])) in MAY_IMPORT:
            return room
    return parts[0]


def is_lawful(found: Import) -> bool:
    home, target = room_of(module_of(found.path)), room_of(found.module)
    if target is None or home in (target, "ctx"):
        return True
    if home in SERVERS:
        return target.split(".")[0] in ("core", home)
    return home is not None and target in MAY_IMPORT[home] | EVERYWHERE


def test_every_room_is_under_the_law() -> None:
    """A new folder of a server must be given its line in MAY_IMPORT."""
    rooms = {
        f"{server}.{folder.name}"
        for server in SERVERS
        for folder in (ROOT / "services" / f"ctx_{server}").iterdir()
        if (folder / "__init__.py").is_file()
    }
    assert rooms - MAY_IMPORT.keys() == set()


def test_imports_follow_the_law() -> None:
    offenders = [str(i) for path in sources() for i in imports(path) if not is_lawful(i)]
    assert offenders == []


@pytest.mark.parametrize(
    ("path", "module", "lawful"),
    [
        ("services/ctx_core/engine/engine.py", "ctx_memory.records.store", False),
        ("services/ctx_indexer/tools/admin.py", "ctx_memory.service", False),
        ("services/ctx_memory/service.py", "ctx_indexer.tools", False),
        ("services/ctx_memory/service.py", "ctx.commands.servers.up", False),
        ("services/ctx_memory/memories/tools.py", "ctx_memory.threads.render", False),
        ("services/ctx_memory/knowledge/store.py", "ctx_memory.threads.entries", False),
        ("services/ctx_memory/records/store.py", "ctx_memory.search.retrievers", False),
        ("services/ctx_indexer/source/walk.py", "ctx_indexer.indexing.plan", False),
        ("services/ctx_indexer/search/searcher.py", "ctx_indexer.tools.inventory", False),
        ("services/ctx_indexer/search/searcher.py", "ctx_indexer.view.views", False),
        ("services/ctx_indexer/search/searcher.py", "ctx_indexer.view.view", True),
        ("services/ctx_core/vectors/specs.py", "ctx_core.vectors.edge.store", False),
        ("services/ctx_core/clock.py", "ctx_core.errors", False),
        ("services/ctx_indexer/syntax/headings.py", "ctx_core.batches", True),
        ("services/ctx_memory/memories/tools.py", "ctx_core.errors", True),
        ("services/ctx_memory/service.py", "ctx_memory.threads.tools", True),
        ("services/ctx_indexer/search/searcher.py", "ctx_indexer.schema.points", True),
        ("ctx/commands/servers/up.py", "ctx_memory.service", True),
    ],
)
def test_the_law_of_imports_can_fail(path: str, module: str, lawful: bool) -> None:
    assert is_lawful(Import(path, 1, module)) is lawful
