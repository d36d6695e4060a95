"""Measures speed at several sizes: index, index again, start, search; beside semble.

    .venv/bin/python -m scripts.bench.speed.sizes --corpus FOLDER --sizes 1000,10000,100000 \
        --semble-venv VENV --out speed.json

FOLDER holds source files, outside of any place that git ignores. Its files are taken in one fixed
random order until they have as many chunks as a size asks for, and copied. --semble-venv makes a
virtual environment with semble and a small static model where there is none; without it, or where
the installation fails, semble is left out and the report says so. --work FOLDER keeps the copies
and the indexes.

Prints a Markdown table, and the JSON object unless --out names a file for it. CPU seconds are of
the whole process tree. Queries are drawn anew for every round, so no answer is a repeated one: 60
are natural (half of them first lines of docstrings of the corpus), 40 are names it defines. Wall
times grow with the machine's load, which stands beside them.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.protocol import Embedder
from ctx_core.engine.engine import open_engine
from ctx_core.settings import load
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from scripts.bench.arguments import program_parser
from scripts.bench.corpora.sized import Corpus, corpora
from scripts.bench.figures import commit, note, with_load
from scripts.bench.speed.peer import PEER, Peer, measured_peer, opened_peer
from scripts.bench.speed.searching import (
    COLLECTION,
    searched_here,
    searched_over_http,
    started,
)
from scripts.bench.usage import watch

SIZES = "1000,10000,100000"


class CountingEmbedder:
    """Counts the texts that are embedded, cached or not."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.texts = 0

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dims(self) -> int:
        return self._embedder.dims

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._embedder.embed_words(words)


async def index(folder: Path) -> dict[str, Any]:
    """One index run in this process; `watch` measures it from outside."""
    settings = load()
    async with open_engine(settings, settings.code_model) as engine:
        counting = CountingEmbedder(engine.embedder)
        state = Manifest(settings.index_state_path)
        indexer = Indexer(engine.vectors, counting, state, store_key="embedded")
        report = await indexer.index(folder, collection=COLLECTION, repo=COLLECTION)
        indexer.close()
    return {
        "files": report.files,
        "chunks": report.chunks,
        "embedded_texts": counting.texts,
        "failures": len(report.failures),
        "index_s": round(report.seconds, 2),
    }


def indexed(corpus: Corpus) -> dict[str, Any]:
    command = [sys.executable, "-m", __spec__.name, "--index", str(corpus.folder)]
    env = os.environ | {"CTX_DATA_DIR": str(corpus.data), "CTX_LOG_LEVEL": "error"}
    return with_load(watch(command, env))


def measured(corpus: Corpus, peer: Peer | str) -> dict[str, Any]:
    note(f"indexing {corpus.folder}")
    figures: dict[str, Any] = {"index": indexed(corpus)}
    note("indexing it again")
    figures["again"] = indexed(corpus)
    note("starting")
    figures["start"] = started(corpus)
    note("searching")
    figures["search"] = asyncio.run(searched_here(corpus))
    figures["http"] = asyncio.run(searched_over_http(corpus))
    note(PEER)
    figures[PEER] = {"note": peer} if isinstance(peer, str) else measured_peer(peer, corpus)
    return figures


ROWS = {
    "files / chunks": "{index[files]} / {index[chunks]}",
    "index, files / chunks per CPU-s": "{index[files_per_cpu_s]} / {index[chunks_per_cpu_s]}",
    "index, wall s / CPU s": "{index[wall_s]} / {index[cpu_s]} (load {index[load]})",
    "index, peak MB of the tree, RSS / PSS": "{index[peak_mb][rss]} / {index[peak_mb][pss]}",
    "unchanged, CPU s / embedded texts": "{again[cpu_s]} / {again[embedded_texts]} "
    "(load {again[load]})",
    "start to ready, wall s / CPU s": "{start[wall_s]} / {start[cpu_s]} (load {start[load]})",
    "server RSS MB, started / searched": "{start[rss_mb]} / {http[rss_mb]}",
    "search in process, ms p50 / p95 / p99": "{search[p50]} / {search[p95]} / {search[p99]} "
    "(load {search[load]})",
    "search in process, CPU ms": "{search[cpu_ms]}",
    "`repo_search` over HTTP, ms p50 / p95 / p99": "{http[p50]} / {http[p95]} / {http[p99]} "
    "(load {http[load]})",
    "`repo_search` over HTTP, ms p50 in the tool": "{http[in_tool_p50]}",
    "`repo_search` over HTTP, server CPU ms": "{http[cpu_ms]}",
}
PEER_ROWS = {
    "files / chunks": "{files} / {chunks}",
    "index, files / chunks per CPU-s": "{files_per_cpu_s} / {chunks_per_cpu_s}",
    "index, wall s / CPU s": "{wall_s} / {cpu_s} (load {load})",
    "index, peak RSS MB": "{peak_mb[rss]}",
    "search in process, ms p50 / p95 / p99": "{query[p50]} / {query[p95]} / {query[p99]}",
    "search in process, CPU ms": "{query[cpu_ms]}",
}


def table(sizes: Sequence[Mapping[str, Any]]) -> str:
    heads = [f"{figures['index']['chunks']:,} chunks" for figures in sizes]
    lines = [row("", heads), row("---", ["---:"] * len(heads))]
    lines += [row(name, [cell.format_map(f) for f in sizes]) for name, cell in ROWS.items()]
    peers = [figures[PEER] for figures in sizes]
    lines += [
        row(f"{PEER}: {name}", [peer.get("note") or cell.format_map(peer) for peer in peers])
        for name, cell in PEER_ROWS.items()
    ]
    return "\n".join(lines)


def row(name: str, cells: Sequence[object]) -> str:
    return f"| {name} | {' | '.join(map(str, cells))} |"


def report(arguments: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Kept after each size: the largest takes long, and may fail."""
    peer = opened_peer(arguments.semble_venv)
    if isinstance(peer, str):
        note(f"{PEER}: {peer}")
    figures: dict[str, Any] = {
        "commit": commit(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "sizes": [],
    }
    sizes = [int(size) for size in arguments.sizes.split(",")]
    for corpus in corpora(arguments.corpus.resolve(), sizes, work):
        figures["sizes"].append(measured(corpus, peer))
        if arguments.out:
            arguments.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return figures


def parsed() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--corpus", type=Path, help="folder with source files")
    parser.add_argument("--sizes", default=SIZES, help="chunks, separated by commas")
    parser.add_argument("--semble-venv", type=Path, help="made where it is not there")
    parser.add_argument("--work", type=Path, help="keep copies and indexes in this new folder")
    parser.add_argument("--out", type=Path, help="file for the JSON object")
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not (arguments.corpus or arguments.index):
        parser.error("--corpus is needed")
    return arguments


def main() -> None:
    arguments = parsed()
    if arguments.index:
        print(json.dumps(asyncio.run(index(arguments.index))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        figures = report(arguments, (arguments.work or Path(temporary)).resolve())
    print(table(figures["sizes"]))
    if not arguments.out:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
