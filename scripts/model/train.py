"""Make the code embedding model: packages → pairs → tokens → distilled table → training → files.

    python -m scripts.model.train [--cache FOLDER] [--out FOLDER] [--processes N]

Every slow stage but the training is kept in the cache. The same inputs give the same bytes on one
machine and one version of numpy.
"""

import argparse
import hashlib
import json
import os
import pickle
import sys
import time
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from scripts.model.duplicates import distinct
from scripts.model.packages import CACHE, MANIFEST, ROOT, Package, fetch_all, read_manifest
from scripts.model.pairs import Pair, package_pairs
from scripts.model.teacher import TEACHER, open_teacher, token_vectors
from scripts.model.training import Examples, train
from scripts.model.vocabulary import Bags, train_tokenizer

Array = NDArray[np.float32]

NAME = "static-code-256-v2"  # collections and caches know a model by it: other bytes, another name
FORMAT = 1  # of the folder; services/ctx_core/embedding/static.py reads the same number
OUT = ROOT / "services" / "ctx_core" / "embedding" / "models" / NAME
CURVE = Path(__file__).parent / "report" / "curve.json"
DIMS = 256
SEEDS = (7, 8, 9)  # orders of the batches; on the benchmark they differ by 0.004, their mean less
# Components are divided by this power of their deviation. 0 lets a few loud directions rule all
# similarities, 1 makes noise as loud as meaning.
WHITENING = 0.5
MAX_RARITY = 10.0  # of the IDF: a token that hardly occurs is not worth more
DECIMALS = 4
INT8_LIMIT = 127
CURVE_STEPS = 50  # between two points of the learning curve
# Numpy reads it when it is loaded. One thread adds in one order, and does not wait for others.
THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"


def main() -> None:
    """All stages."""
    options = _options()
    _use_one_thread()
    packages = [package for package in read_manifest() if package.split == "train"]
    failed = fetch_all(packages, options.cache)
    if failed:
        sys.exit(f"{len(failed)} packages failed:\n" + "\n".join(failed))
    pairs = distinct(read_pairs(packages, options.cache, options.processes))
    tokenizer = tokens(pairs, options.cache)
    examples = tokenised(pairs, tokenizer)
    vectors = taught(tokenizer, options.cache, options.processes)
    table = trained(initial_table(vectors, examples), examples)
    write_model(options.out, quantised(rotated(table)), tokenizer, packages)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _use_one_thread() -> None:
    """Start the script again with the variable set, unless it is."""
    if os.environ.get(THREADS_VARIABLE) != "1":
        environment = {**os.environ, THREADS_VARIABLE: "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


class Curve:
    """The loss as training goes on, each point the mean of some steps."""

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []
        self._recent: list[float] = []

    def add(self, step: int, steps: int, loss: float) -> None:
        self._recent.append(loss)
        if len(self._recent) == CURVE_STEPS:
            self.points.append((step, round(float(np.mean(self._recent)), 4)))
            self._recent = []
            say(f"training: {step} of {steps}, loss {self.points[-1][1]:.3f}")


# --- pairs ---------------------------------------------------------------------------------


def read_pairs(packages: list[Package], cache: Path, processes: int) -> list[list[Pair]]:
    """The pairs of each package, from the cache where they are there."""
    (cache / "pairs").mkdir(exist_ok=True)
    work = [(cache, package) for package in packages]
    with Pool(processes) as pool:
        for done, _ in enumerate(pool.imap_unordered(_keep_pairs, work), 1):
            if done % 50 == 0 or done == len(work):
                say(f"pairs: {done} of {len(work)} packages")
    found = [pickle.loads(_pairs_file(cache, package).read_bytes()) for package in packages]
    return [_of_files_taken(p, pairs) for p, pairs in zip(packages, found, strict=True)]


def _keep_pairs(work: tuple[Path, Package]) -> None:
    cache, package = work
    file = _pairs_file(cache, package)
    if not file.exists():
        root = cache / "src" / package.folder
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(pickle.dumps(package_pairs(root, root.name)))
        partial.replace(file)


def _pairs_file(cache: Path, package: Package) -> Path:
    return cache / "pairs" / f"{package.folder.replace('/', '_')}.pkl"


def _of_files_taken(package: Package, pairs: list[Pair]) -> list[Pair]:
    """The manifest may have learnt of a file to leave out since the pairs were kept."""
    return [pair for pair in pairs if package.takes(pair.file)]


# --- tokens --------------------------------------------------------------------------------


def tokens(pairs: list[list[Pair]], cache: Path) -> Tokenizer:
    say(f"{sum(map(len, pairs))} pairs of {len(pairs)} packages")
    tokenizer = train_tokenizer(pairs)
    tokenizer.save(str(cache / "tokenizer.json"), pretty=False)
    say(f"{tokenizer.get_vocab_size()} tokens")
    return tokenizer


def tokenised(packages: list[list[Pair]], tokenizer: Tokenizer) -> Examples:
    """The pairs that have known tokens on both sides, as numbers."""
    bags = Bags(tokenizer)
    pairs = [pair for each in packages for pair in each]
    homes = np.repeat(np.arange(len(packages)), [len(each) for each in packages])
    questions = bags.of([pair.question for pair in pairs])
    codes = bags.of([pair.code for pair in pairs])
    known = (np.diff(questions.indptr) > 0) & (np.diff(codes.indptr) > 0)
    kept = np.flatnonzero(known)
    numbers: dict[tuple[int, str], int] = {}
    topics = [
        numbers.setdefault((int(home), pair.topic), len(numbers))
        for home, pair in zip(homes, pairs, strict=True)
    ]
    say(f"{len(kept)} pairs tokenised")
    return Examples(questions[kept], codes[kept], np.array(topics)[kept], homes[kept])


# --- the table -----------------------------------------------------------------------------


def taught(tokenizer: Tokenizer, cache: Path, threads: int) -> Array:
    """The teacher's vector of each token, from the cache where these very tokens were taught."""
    vocabulary = tokenizer.get_vocab()
    named = sorted(vocabulary, key=vocabulary.__getitem__)
    digest = hashlib.sha256("\n".join(named).encode()).hexdigest()
    file = cache / f"taught-{digest[:16]}.npy"
    if not file.exists():
        partial = file.with_suffix(".partial.npy")
        np.save(partial, token_vectors(open_teacher(cache), named, threads, _heard))
        partial.replace(file)
    vectors: Array = np.load(file)
    return vectors


def initial_table(vectors: Array, examples: Examples) -> Array:
    """The teacher's vectors in DIMS dimensions, weighted by rarity, of length one on average."""
    holders = np.bincount(examples.codes.indices, minlength=len(vectors))
    rarity = np.log((len(examples) + 1) / (holders + 1))
    table = _reduced(np.round(vectors, DECIMALS)) * np.minimum(rarity, MAX_RARITY)[:, None]
    table[0] = 0  # the unknown token
    scaled: Array = (table / np.sqrt(np.square(table).sum(axis=1).mean())).astype(np.float32)
    return scaled


def trained(table: Array, examples: Examples) -> Array:
    """The mean of the tables that training ends at, once for each seed."""
    total = np.zeros_like(table)
    curves = []
    for seed in SEEDS:
        curve = Curve()
        total += train(table, examples, seed, curve.add)
        curves.append(curve.points)
    CURVE.parent.mkdir(exist_ok=True)
    CURVE.write_text(json.dumps(curves) + "\n")
    mean: Array = total / np.float32(len(SEEDS))
    return mean


def _reduced(vectors: Array) -> NDArray[np.float64]:
    """The DIMS principal components, the loudest toned down."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    deviations, components = _principal(centred)
    reduced: NDArray[np.float64] = centred @ components[:, :DIMS] / deviations[:DIMS] ** WHITENING
    return reduced


def _principal(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Deviations and directions, loudest first; the largest part of a direction is positive."""
    variances, directions = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    variances, directions = variances[::-1], directions[:, ::-1]
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return np.sqrt(np.maximum(variances, 0)), directions * signs


def rotated(table: Array) -> Array:
    """The table turned to its principal axes, so that the last one says least.

    A rotation changes no similarity. The runtime gives the last axis to texts without tokens.
    """
    _, directions = _principal(table.astype(np.float64))
    turned = np.round(table.astype(np.float64) @ directions, DECIMALS)
    turned[0] = 0
    return turned.astype(np.float32)


def quantised(table: Array) -> tuple[NDArray[np.int8], Array]:
    """Bytes and the scale of each row; a row's weight stays in its scale."""
    scales = np.abs(table).max(axis=1) / np.float32(INT8_LIMIT)
    safe = np.where(scales > 0, scales, 1)
    return np.rint(table / safe[:, None]).astype(np.int8), scales.astype(np.float32)


# --- files ---------------------------------------------------------------------------------


def write_model(
    folder: Path,
    arrays: tuple[NDArray[np.int8], Array],
    tokenizer: Tokenizer,
    packages: list[Package],
) -> None:
    """The model folder, all but the licence texts."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, scales = arrays
    np.save(folder / "embeddings.npy", rows)
    np.save(folder / "scales.npy", scales)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    described = json.dumps(description(folder, rows, packages), indent=2) + "\n"
    (folder / "model.json").write_text(described, encoding="utf-8")
    for path in sorted(folder.iterdir()):
        say(f"{path.stat().st_size:>10,}  {_digest(path)[:16]}  {path.name}")


def description(folder: Path, rows: NDArray[np.int8], packages: list[Package]) -> dict[str, Any]:
    """What the folder holds and what it was made of."""
    files = ("embeddings.npy", "scales.npy", "tokenizer.json")
    return {
        "format": FORMAT,
        "name": NAME,
        "dims": int(rows.shape[1]),
        "tokens": int(rows.shape[0]),
        "license": "Apache-2.0",
        "recipe": "scripts/model/train.py",
        "teacher": {"package": TEACHER.name, "version": TEACHER.version, "sha256": TEACHER.sha256},
        "trained_on": {
            "packages": len(packages),
            "manifest": "scripts/model/packages.json",
            "manifest_sha256": _digest(MANIFEST),
        },
        "sha256": {name: _digest(folder / name) for name in files},
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _heard(done: int, total: int) -> None:
    say(f"teacher: {done} of {total} tokens")


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    main()
