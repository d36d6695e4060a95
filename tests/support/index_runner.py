"""A process that checks what an index promises, then indexes a folder: `test_index_crash` kills it.

Arguments: the data folder and the workspace. Prints `indexing` when the run begins, and what it
found wrong, if anything; exits with 0 when the index is complete.
"""

import asyncio
import sys
from collections import defaultdict
from pathlib import Path

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import without_versions
from ctx_indexer.schema.payload import decode
from ctx_indexer.source.walk import SourceFile, walk
from ctx_indexer.syntax.outline import outline

COLLECTION, REPO, STORE = "code", "repo", "embedded"
Contents = dict[str, list[tuple[str, str]]]
"""Path → (blob, text) of each of its points."""


async def main(data: Path, workspace: Path) -> int:
    settings = Settings(data_dir=data)
    async with open_engine(settings, settings.code_model) as engine:
        state = Manifest(settings.index_state_path)
        indexer = Indexer(engine.vectors, engine.embedder, state, store_key=STORE, processes=2)
        wrong = await promises_broken(engine.vectors, indexer)
        print(*wrong, "indexing", sep="\n", flush=True)
        await indexer.index(workspace, collection=COLLECTION, repo=REPO)
        [own] = [each for each in await indexer.checkouts.of(COLLECTION) if each.root == workspace]
        wrong += differences(await seen_from(engine.vectors, indexer, own), workspace)
        wrong += await promises_broken(engine.vectors, indexer)
        state.close()
    print(*wrong, "finished", sep="\n", flush=True)
    return 1 if wrong else 0


async def promises_broken(store: VectorStore, indexer: Indexer) -> list[str]:
    """Every checkout sees all points of its files that are done, and none of other versions."""
    wrong = []
    for checkout in await indexer.checkouts.of(COLLECTION):
        rows = await indexer.files.of(checkout)
        found = await seen_from(store, indexer, checkout) if rows else {}
        wrong += [f"STRAY {path} in {checkout.root}" for path in found.keys() - rows.keys()]
        for path, row in rows.items():
            blobs = [blob for blob, _ in found.get(path, [])]
            if row.done and blobs != [row.blob] * row.chunks:
                wrong.append(f"BROKEN {path}: {row.chunks} of {row.blob} recorded, found {blobs}")
    return wrong


def differences(found: Contents, workspace: Path) -> list[str]:
    """What is stored against what the files say, point by point."""
    expected = {
        file.path: [(file.blob, text) for text in chunk_texts(file, workspace)]
        for file in walk(workspace)
        if isinstance(file, SourceFile)
    }
    return [
        f"DIFFERS {path}"
        for path in {*found, *expected}
        if sorted(found.get(path, [])) != sorted(expected.get(path, []))
    ]


def chunk_texts(file: SourceFile, workspace: Path) -> list[str]:
    return [each.text for each in chunk(outline(file.text(workspace), file.language))]


async def seen_from(store: VectorStore, indexer: Indexer, checkout: Checkout) -> Contents:
    where = without_versions(None, await indexer.checkouts.hidden([checkout]))
    found: Contents = defaultdict(list)
    offset: str | None = None
    while True:
        page, offset = await store.scroll(COLLECTION, where=where, limit=1000, offset=offset)
        for record in page:
            stored = decode(record.payload)
            found[stored.path].append((stored.blob, stored.text))
        if offset is None:
            return found


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]))))
