"""How surely a code hit answers its query: fits and checks the calibration of `context_search`.

    .venv/bin/python -m scripts.bench.quality.calibration --eval EVAL --checkouts FOLDER \
        --fit a,b --check c

EVAL and FOLDER are those of quality.py. Each repository is asked its own queries, whose targets
are known, and those of another repository, which it cannot answer. A logistic regression over the
signs of a hit is fitted on the repositories of --fit, and measured on those of --check.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.search.calibration import signs
from ctx_indexer.search.definition_choice import choose_definitions
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.view.view import View
from scripts.bench.arguments import program_parser
from scripts.bench.quality.retrieval import (
    PER_PATH,
    RESULTS,
    Repo,
    checkout,
    hits,
    index,
    load_repos,
)

FOREIGN = 20  # queries of another repository that each one is asked
STEPS = 50  # of Newton's method; it converges in ten
RIDGE = 1e-3
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)

Rows = NDArray[np.float64]


async def observe(
    engine: Engine, repo: Repo, queries: Sequence[Mapping[str, Any]]
) -> list[tuple[tuple[float, ...], bool]]:
    """Return the signs of each hit, and whether it is a target of its query."""
    searcher = Searcher(engine.vectors, engine.embedder)
    rows = []
    for query in queries:
        parsed = parse_queries(query["q"])
        request = SearchRequest(parsed, limit=RESULTS, per_path=PER_PATH)
        found = await searcher.search(View(repo.name), request)
        spoken = signs(found.hits, parsed[0], await engine.vectors.count(repo.name))
        for hit, each in zip(found.hits, spoken, strict=True):
            span = choose_definitions(hit.chunk, parsed[0], SearchFilters())[0]
            result = {"path": hit.chunk.path, **span._asdict()}
            is_target = any(hits(target, result) for target in query["targets"])
            rows.append((each, is_target))
    return rows


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    chosen = {"fit": options.fit.split(","), "check": options.check.split(",")}
    repos = [
        (repo, entry)
        for repo, entry in load_repos(options.eval)
        if repo.name in chosen["fit"] + chosen["check"]
    ]
    rows: dict[str, list[tuple[tuple[float, ...], bool]]] = {"fit": [], "check": []}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_engine(settings, settings.code_model) as engine:
            for number, (repo, entry) in enumerate(repos):
                await index(engine, settings, repo, checkout(options.checkouts, entry, False))
                other = repos[number - 1][0].queries[:FOREIGN]
                own = [{"q": q["q"], "targets": [*q["rel"], *q["sec"]]} for q in repo.queries]
                asked = [*own, *({"q": q["q"], "targets": []} for q in other)]
                part = "fit" if repo.name in chosen["fit"] else "check"
                rows[part] += await observe(engine, repo, asked)
                print(repo.name, file=sys.stderr, flush=True)
    weights = fitted(*_arrays(rows["fit"]))
    return {
        "weights": [round(float(each), 3) for each in weights],
        **{part: report(weights, *_arrays(rows[part])) for part in rows},
    }


def _arrays(rows: Sequence[tuple[tuple[float, ...], bool]]) -> tuple[Rows, Rows]:
    return np.array([[1.0, *each] for each, _ in rows]), np.array([float(y) for _, y in rows])


def fitted(x: Rows, y: Rows) -> Rows:
    """Fit a logistic regression by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (y - p) - RIDGE * weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(hessian, gradient)
    return weights


def report(weights: Rows, x: Rows, y: Rows) -> dict[str, Any]:
    """Return how far probabilities agree with what happened."""
    p = 1 / (1 + np.exp(-x @ weights))
    order = np.argsort(p)
    ranks = np.empty(len(p))
    ranks[order] = np.arange(1, len(p) + 1)
    positives = y.sum()
    auc = (ranks[y == 1].sum() - positives * (positives + 1) / 2) / (
        positives * (len(y) - positives)
    )
    bins = []
    for low, high in pairwise(BINS):
        inside = (p >= low) & (p < high)
        if inside.any():
            said, was = round(float(p[inside].mean()), 3), round(float(y[inside].mean()), 3)
            bins.append({"hits": int(inside.sum()), "said": said, "was": was})
    base = float(y.mean())
    return {
        "hits": len(y),
        "targets": int(positives),
        "auc": round(float(auc), 3),
        "brier": round(float(((p - y) ** 2).mean()), 4),
        "brier_of_base_rate": round(base * (1 - base), 4),
        "bins": bins,
    }


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--eval", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--fit", required=True, help="names of repositories, by commas")
    parser.add_argument("--check", required=True, help="names of repositories, by commas")
    print(json.dumps(asyncio.run(measure(parser.parse_args())), indent=2))


if __name__ == "__main__":
    main()
