"""How well the model finds functions of the standard library by their documentation.

    python scripts/model/measure.py [--model FOLDER]

Query: the first line of a function's documentation. Corpus: all documented functions, without
their documentation. The figure is the mean reciprocal rank; ties count against.
"""

import argparse
import math
import re
import sys
import sysconfig
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from functions import documented_functions
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from services.core.embedding.static import SHIPPED_MODEL, StaticEmbedder  # noqa: E402

Scores = NDArray[np.float32]

# BM25 and reciprocal rank fusion with the constants that everyone uses.
BM25_SATURATION, BM25_LENGTH = 1.2, 0.75
RRF_OFFSET = 60
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def main() -> None:
    """Print a table: BM25, the model, both fused; with and without the functions' names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, default=SHIPPED_MODEL)
    embedder = StaticEmbedder(parser.parse_args().model)
    functions = list(documented_functions(Path(sysconfig.get_paths()["stdlib"])))
    queries = [function.summary for function in functions]
    print(f"{len(functions)} functions, Python {sys.version.split()[0]}, {embedder.name}")
    print("| code | BM25 | model | fused |\n| --- | --- | --- | --- |")
    for label, codes in (
        ("with names", [function.code for function in functions]),
        ("names hidden", [function.anonymous for function in functions]),
    ):
        lexical = bm25(queries, codes)
        dense = embedder.embed_documents(queries) @ embedder.embed_documents(codes).T
        fused = reciprocal_ranks(lexical) + reciprocal_ranks(dense)
        figures = " | ".join(f"{mean_rank(scores):.3f}" for scores in (lexical, dense, fused))
        print(f"| {label} | {figures} |", flush=True)


def mean_rank(scores: Scores) -> float:
    """The mean reciprocal rank, where the right answer to query i is document i."""
    right = scores.diagonal()[:, None]
    return float((1 / (scores >= right).sum(axis=1)).mean())


def reciprocal_ranks(scores: Scores) -> Scores:
    """What each document gets from one ranking when rankings are fused."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty(scores.shape, dtype=np.float32)
    places = np.arange(1, scores.shape[1] + 1, dtype=np.float32)[None]
    np.put_along_axis(ranks, order, np.broadcast_to(places, scores.shape), axis=1)
    return np.float32(1) / (RRF_OFFSET + ranks)


def bm25(queries: list[str], documents: list[str]) -> Scores:
    """The BM25 score of every document for every query, over the parts of identifiers."""
    gains = _gains(documents)
    scores = np.zeros((len(queries), len(documents)), dtype=np.float32)
    for row, query in enumerate(queries):
        for part in _parts(query):
            if part in gains:
                holders, values = gains[part]
                scores[row, holders] += values
    return scores


def _gains(documents: list[str]) -> dict[str, tuple[NDArray[np.int64], Scores]]:
    """For each part the documents that hold it, and what a query with the part gives them."""
    bags = [Counter(_parts(document)) for document in documents]
    lengths = np.array([bag.total() for bag in bags])
    dampers = BM25_SATURATION * (1 - BM25_LENGTH + BM25_LENGTH * lengths / lengths.mean())
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, bag in enumerate(bags):
        for part, count in bag.items():
            postings[part].append((number, count))
    gains = {}
    for part, pairs in postings.items():
        holders, counts = np.array(pairs).T
        rarity = math.log(1 + (len(bags) - len(holders) + 0.5) / (len(holders) + 0.5))
        values = rarity * counts * (BM25_SATURATION + 1) / (counts + dampers[holders])
        gains[part] = holders, values.astype(np.float32)
    return gains


def _parts(text: str) -> list[str]:
    return [part.lower() for part in PART.findall(text)]


if __name__ == "__main__":
    main()
