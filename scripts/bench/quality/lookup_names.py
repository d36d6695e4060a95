"""Look-up by name: of 200 definitions in six languages, how many are found first, and whole.

    .venv/bin/python -m scripts.bench.quality.lookup_names --checkouts FOLDER [--seed N]

FOLDER holds checkouts of the repositories below. Definitions are drawn from what other parsers than
ours find: Python's `ast`, Universal Ctags for the rest. A definition is asked for by its name, with
that of its class before it. An answer is right where the first result (`repo_search`) or the only
one (`read_code`) has that name and begins at its line, or at its decorators and attributes.
"""

import asyncio
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import InvalidInput
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_query
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.views import ViewArguments, ViewDefaults, Views
from scripts.bench.agents.gold import Definition, read_sources
from scripts.bench.agents.questions import listed_files
from scripts.bench.arguments import program_parser

REPOSITORIES = {
    "python": ("requests", "src"),
    "typescript": ("trpc", "packages/server/src"),
    "go": ("chi", ""),
    "rust": ("axum", "axum/src"),
    "java": ("gson", "gson/src/main"),
    "cpp": ("fmtlib", "include"),
}
DRAWN = 200
LIMIT = 10
ATTACHED = ("@", "#[", "///", "//", "template", "*", "/*", "export", "pub")  # lines above a name


@dataclass(frozen=True)
class Answer:
    """A definition as an answer names it."""

    path: str
    symbol: str
    start_line: int


def asked(definition: Definition) -> str:
    """Return the name that is asked for: with the class around it, if there is one."""
    outer = definition.scope.rpartition(".")[2]
    return f"{outer}.{definition.name}" if outer else definition.name


def drawn(root: Path, subdir: str, language: str, count: int, seed: int) -> list[Definition]:
    """Draw definitions whose names, with their class, the repository has once."""
    sources = read_sources(root, listed_files(root, subdir, language), language)
    names = Counter(asked(each) for each in sources.definitions)
    plain = Counter(each.name for each in sources.definitions)
    unique = [
        each
        for each in sources.definitions
        if names[asked(each)] == 1
        and each.name.isidentifier()
        and not asked(each).startswith(f"{each.name}.")  # a constructor: its class is found
        and (each.scope or plain[each.name] == 1)
    ]
    return random.Random(seed).sample(unique, min(count, len(unique)))


def is_right(answer: Answer | None, definition: Definition, rows: list[str]) -> bool:
    """Whether an answer has the name of a definition and begins at its first line."""
    if answer is None or answer.path != definition.path:
        return False
    if answer.symbol.split(".")[-1] != definition.name:
        return False
    if definition.start != definition.line or answer.start_line == definition.line:
        return answer.start_line == definition.start
    above = [row.strip() for row in rows[answer.start_line - 1 : definition.line - 1]]
    if above and above[0].startswith(("template", "#[", "typedef")):
        return True  # ctags names the line of the name: the last one of a `typedef struct`
    if above and above[0].startswith("@") and not any(";" in row for row in above):
        return True  # an annotation of several lines
    return bool(above) and all(row.startswith(ATTACHED) for row in above)


class Lookups:
    """Asks one collection for names, by search and by reading."""

    def __init__(self, engine: Engine, indexer: Indexer, collection: str) -> None:
        self._searcher = Searcher(engine.vectors, engine.embedder)
        self._lookup = Lookup.over(indexer.files, engine.vectors, FileTexts())
        self._views = Views(indexer.checkouts, SessionDefaults(), ViewDefaults(collection))

    async def searched(self, name: str) -> Answer | None:
        query = parse_query(name)
        view = await self._views.resolve(ViewArguments())
        result = await self._searcher.search(view, SearchRequest([query], limit=LIMIT))
        located = await self._lookup.hits.locate(view, result.hits, query, SearchFilters(), 2)
        for hit, place in located.hits[:1]:
            return Answer(hit.chunk.path, place.span.symbol, place.span.start_line)
        return None

    async def read(self, name: str) -> Answer | None:
        try:
            view = await self._views.resolve(ViewArguments())
            found = await self._lookup.definitions.find(view, name, SearchFilters())
        except InvalidInput:
            return None
        if len(found.meant) != 1:
            return None
        [only] = found.meant
        return Answer(only.file.path, only.symbol, only.start_line)


async def one_repository(
    engine: Engine, settings: Settings, root: Path, subdir: str, definitions: list[Definition]
) -> Counter[str]:
    manifest = Manifest(settings.data_dir / "index.sqlite")
    indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key="bench")
    await indexer.index(root, collection=root.name, repo=root.name, subdir=subdir)
    lookups = Lookups(engine, indexer, root.name)
    counts: Counter[str] = Counter(drawn=len(definitions))
    for each in definitions:
        rows = (root / each.path).read_text("utf-8", "replace").split("\n")
        name = asked(each)
        for how, answer in (
            ("searched", await lookups.searched(name)),
            ("read", await lookups.read(name)),
        ):
            right = is_right(answer, each, rows)
            counts[how] += right
            if not right:
                place = f"{each.path}:{each.line} {rows[each.line - 1].strip()[:60]!r}"
                print(f"{how} {root.name} {name} {place} -> {answer}", file=sys.stderr)
    manifest.close()
    return counts


async def measure(checkouts: Path, seed: int) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    each, rest = divmod(DRAWN, len(REPOSITORIES))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_engine(settings, settings.code_model) as engine:
            for number, (language, (name, subdir)) in enumerate(REPOSITORIES.items()):
                root = checkouts / name
                count = each + (number < rest)
                definitions = drawn(root, subdir, language, count, seed)
                counts[language] = await one_repository(engine, settings, root, subdir, definitions)
    return counts


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    counts = asyncio.run(measure(options.checkouts, options.seed))
    for language, row in {**counts, "all": sum(counts.values(), Counter())}.items():
        print(f"{language}: {row['searched']} searched and {row['read']} read of {row['drawn']}")


if __name__ == "__main__":
    main()
