"""Look-up by name: of definitions drawn from repositories, how many `repo_search` finds first.

    .venv/bin/python scripts/bench/lookup_names.py --checkouts FOLDER

FOLDER holds checkouts of the repositories below. An answer is right where one of its results has
the definition's qualified name and first line; only names that a repository defines once are drawn.
"""

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from services.core.engine.engine import Engine, open_engine  # noqa: E402
from services.core.settings import Settings  # noqa: E402
from services.indexer.indexing.indexer import Indexer  # noqa: E402
from services.indexer.indexing.manifest import Manifest  # noqa: E402
from services.indexer.lookup.lookup import Lookup  # noqa: E402
from services.indexer.lookup.texts import FileTexts  # noqa: E402
from services.indexer.search.filters import SearchFilters  # noqa: E402
from services.indexer.search.query import parse_query  # noqa: E402
from services.indexer.search.searcher import Searcher, SearchRequest  # noqa: E402
from services.indexer.syntax.definitions import FUNCTIONS, TYPES, flatten  # noqa: E402

REPOSITORIES = {
    "python": ("requests", ""),
    "typescript": ("trpc", "packages/server/src"),
    "go": ("chi", ""),
    "rust": ("axum", "axum/src"),
    "java": ("gson", "gson/src/main"),
    "cpp": ("fmtlib", "include"),
}
DRAWN = 200
SEED = 7
LIMIT = 10
NAME = re.compile(r"[\w.]+")  # no operators and template arguments


async def measure(checkouts: Path) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_engine(settings, settings.code_model) as engine:
            counts: Counter[str] = Counter()
            each = -(-DRAWN // len(REPOSITORIES))
            for language, (name, subdir) in REPOSITORIES.items():
                count = min(each, DRAWN - counts["drawn"])
                root = checkouts / name
                counts += await one_repository(engine, settings, root, subdir, language, count)
            return counts


async def one_repository(
    engine: Engine, settings: Settings, root: Path, subdir: str, language: str, count: int
) -> Counter[str]:
    manifest = Manifest(settings.data_dir / "index.sqlite")
    indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key="bench")
    await indexer.index(root, collection=root.name, repo=root.name, subdir=subdir)
    texts = FileTexts()
    lookup = Lookup(indexer, engine.vectors, texts)
    [checkout] = await indexer.checkouts(root.name)
    everything: list[tuple[str, str, int]] = []
    found: list[tuple[str, str, int]] = []
    for path, row in (await indexer.files(checkout)).items():
        file = texts.read(root, path) if row.language == language else None
        if file is not None:
            definitions = flatten(texts.outline(root, path, file).definitions)
            everything += [(path, each.path, each.start + 1) for each in definitions]
            found += [
                (path, each.path, each.start + 1)
                for each in definitions
                if each.kind in FUNCTIONS | TYPES - {"impl"} and NAME.fullmatch(each.path)
            ]
    names = Counter(symbol for _, symbol, _ in everything)
    unique = sorted(each for each in found if names[each[1]] == 1)
    drawn = random.Random(SEED).sample(unique, min(count, len(unique)))
    searcher = Searcher(engine.vectors, engine.embedder)
    counts: Counter[str] = Counter(drawn=len(drawn))
    for path, symbol, line in drawn:
        places = await answered(searcher, lookup, root.name, symbol)
        first = bool(places) and places[0] == (path, symbol, line)
        counts["first"] += first
        counts["found"] += (path, symbol, line) in places
        if not first:
            print(f"{root.name}: {path}:{line} {symbol} -> {places[:2]}", file=sys.stderr)
    manifest.close()
    return counts


async def answered(
    searcher: Searcher, lookup: Lookup, collection: str, symbol: str
) -> list[tuple[str, str, int]]:
    query = parse_query(symbol)
    result = await searcher.search(collection, SearchRequest([query], limit=LIMIT))
    located: Any = await lookup.locate(collection, result.hits, query, SearchFilters(), 2)
    return [
        (hit.chunk.path, place.span.symbol, place.span.start_line) for hit, place in located.hits
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True)
    counts = asyncio.run(measure(parser.parse_args().checkouts))
    print(f"{counts['first']} of {counts['drawn']} first, {counts['found']} among {LIMIT}")


if __name__ == "__main__":
    main()
