"""A process that indexes a folder again and again: `test_memory` looks at its resident size.

Arguments: the data folder, the workspace and the number of runs. Each run writes every file anew,
in this process. Prints the resident megabytes that are no file's after each run.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.manifest.tables import WRITING
from scripts.bench.usage import resident_mb

COLLECTION, REPO, STORE = "code", "repo", "embedded"


async def main(data: Path, workspace: Path, runs: int) -> None:
    settings = Settings(data_dir=data)
    key = RepoKey(STORE, COLLECTION, REPO)
    async with open_engine(settings, settings.code_model) as engine:
        manifest = Manifest(settings.index_state_path)
        indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key=STORE)
        for _ in range(runs):
            written = (await manifest.versions.of_repo(key)).values()
            await manifest.versions.begin(key, [replace(row, status=WRITING) for row in written])
            report = await indexer.index(workspace, collection=COLLECTION, repo=REPO)
            assert report.written == report.files, report
            print(resident_mb("self")["anonymous"], flush=True)
        manifest.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
