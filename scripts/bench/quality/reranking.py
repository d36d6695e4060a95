"""Reranking: does a model that reads the best candidates again put the right ones higher?

    .venv/bin/python -m scripts.bench.quality.reranking --eval EVAL --checkouts FOLDER \
        --cross-encoder DIR

EVAL and FOLDER are those of quality.py; DIR holds an ONNX file of a cross-encoder and its
`tokenizer.json`. The best candidates of each query are scored by the cross-encoder, by late
interaction (each token of the query finds its nearest token of the best window), and by the cosine
of a transformer whose vectors are kept by the hash of their text. Each is blended with our score at
several weights. A time is what scoring adds to one query.
"""

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.factory import SHIPPED
from ctx_core.embedding.onnx import OnnxModel
from ctx_core.engine.engine import Engine, open_engine
from ctx_core.rerank.reranker import OnnxReranker
from ctx_core.settings import Settings
from ctx_core.settings.models import PROSE_TRANSFORMER
from ctx_indexer.schema.payload import embedding_text
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchHit, SearchRequest
from ctx_indexer.view.view import View
from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note, with_load
from scripts.bench.quality.retrieval import (
    PER_PATH,
    RESULTS,
    Answered,
    Repo,
    by_language,
    checkout,
    index,
    load_repos,
    ndcg,
)

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
MAX_CHARACTERS = 500  # of a candidate: its name, signature, what it says first
WINDOW = 64  # tokens
BATCH = 4  # texts of one run; more only pad more
WEIGHTS = (0.1, 0.25, 0.5)
GAIN = 0.01  # of NDCG@10 that a language must have gained

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class TokenStates:
    """The states of a text's tokens, each of length 1, the first of them for the whole text."""

    rows: Rows

    @property
    def whole(self) -> Rows:
        first: Rows = self.rows[0]
        return first

    def split(self) -> list[Rows]:
        return [self.rows[at : at + WINDOW] for at in range(1, max(len(self.rows), 2), WINDOW)]


class Transformer:
    """The shipped transformer; what it read is kept by the hash of the text."""

    def __init__(self) -> None:
        self._model = OnnxModel("reranker", SHIPPED / PROSE_TRANSFORMER)
        self._kept: dict[str, TokenStates] = {}

    def query(self, text: str) -> TokenStates:
        return self._read([QUERY_PREFIX + text])[0]

    def texts(self, texts: Sequence[str]) -> list[TokenStates]:
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        self._kept.update(zip(new, self._read(list(new.values())), strict=True))
        return [self._kept[key] for key in keys]

    def _read(self, texts: Sequence[str]) -> list[TokenStates]:
        found: dict[int, TokenStates] = {}
        by_length = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for at in range(0, len(texts), BATCH):
            batch = by_length[at : at + BATCH]
            output, mask = self._model.run([texts[number] for number in batch])
            for number, states, used in zip(
                batch, np.asarray(output, np.float32), mask, strict=True
            ):
                rows = states[: int(used.sum())]
                norms = np.linalg.norm(rows, axis=1, keepdims=True)
                found[number] = TokenStates(rows / norms)
        return [found[number] for number in range(len(texts))]

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = self.query(query).whole
        return [float(asked @ each.whole) for each in self.texts(texts)]

    def late_interaction(self, query: str, texts: Sequence[str]) -> list[float]:
        asked = self.query(query).rows[1:]
        return [
            max(float((asked @ window.T).max(axis=1).mean()) for window in each.split())
            for each in self.texts(texts)
        ]


Score = Callable[[str, Sequence[str]], list[float]]


@dataclass
class Variant:
    """What was measured of one way to score."""

    answered: dict[float, list[Answered]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def blended(hits: Sequence[SearchHit], scores: Sequence[float], weight: float) -> list[SearchHit]:
    """Order hits by a weighted sum of our score and another one, both as shares of their range."""
    ours = _shares([hit.score for hit in hits])
    others = _shares(scores)
    total = [(1 - weight) * one + weight * other for one, other in zip(ours, others, strict=True)]
    order = sorted(range(len(hits)), key=lambda at: -total[at])
    return [hits[at] for at in order]


def _shares(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(each - low) / ((high - low) or 1.0) for each in scores]


def _ndcg(hits: Sequence[SearchHit], query: Any) -> float:
    rows = [
        {
            "path": hit.chunk.path,
            "start_line": hit.chunk.start_line,
            "end_line": hit.chunk.end_line,
        }
        for hit in hits[:RESULTS]
    ]
    return ndcg(rows, [*query["rel"], *query["sec"]])


class Bench:
    """Asks the queries of repositories, and scores their candidates in every way."""

    def __init__(self, ways: dict[str, Score], depth: int) -> None:
        self._ways = ways
        self._depth = depth
        self.plain: list[Answered] = []
        self.search_seconds: list[float] = []
        self.variants: dict[str, Variant] = {name: Variant() for name in ways}

    async def ask(self, engine: Engine, repo: Repo, most: int) -> None:
        searcher = Searcher(engine.vectors, engine.embedder)
        step = max(len(repo.queries) // most, 1)
        for query in repo.queries[::step][:most]:
            request = SearchRequest(parse_queries(query["q"]), limit=self._depth, per_path=PER_PATH)
            started = time.perf_counter()
            hits = (await searcher.search(View(repo.name), request)).hits
            self.search_seconds.append(time.perf_counter() - started)
            self.plain.append(Answered(repo, query["cat"], query["q"], _ndcg(hits, query)))
            texts = [embedding_text(hit.chunk)[:MAX_CHARACTERS] for hit in hits]
            for name, way in self._ways.items():
                self._score(name, way, repo, query, hits, texts)

    def _score(
        self,
        name: str,
        way: Score,
        repo: Repo,
        query: Any,
        hits: Sequence[SearchHit],
        texts: Sequence[str],
    ) -> None:
        variant = self.variants[name]
        started, cpu = time.perf_counter(), time.process_time()
        scores = way(query["q"], texts) if texts else []
        variant.seconds.append(time.perf_counter() - started)
        variant.cpu.append(time.process_time() - cpu)
        for weight in WEIGHTS:
            ordered = blended(hits, scores, weight) if hits else []
            gained = Answered(repo, query["cat"], query["q"], _ndcg(ordered, query))
            variant.answered[weight].append(gained)

    def report(self) -> dict[str, Any]:
        plain = by_language(self.plain)
        rows: dict[str, Any] = {
            "as it is": {"mean": _mean(plain), "p50 ms": _p50(self.search_seconds), **plain}
        }
        for name, variant in self.variants.items():
            for weight, answered in variant.answered.items():
                found = by_language(answered)
                gained = sum(found[each] >= plain[each] + GAIN for each in plain)
                lost = sum(found[each] <= plain[each] - GAIN for each in plain)
                rows[f"{name}, {weight:g}"] = {
                    "mean": _mean(found),
                    "languages gained": gained,
                    "languages lost": lost,
                    "p50 ms": _p50(variant.seconds),
                    "p50 CPU-ms": _p50(variant.cpu),
                    **found,
                }
        return {"queries": len(self.plain), "languages": len(plain), "rows": rows}


def _mean(languages: dict[str, float]) -> float:
    return round(sum(languages.values()) / len(languages), 4)


def _p50(seconds: Sequence[float]) -> float:
    return round(median(seconds) * 1000, 1)


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    transformer = Transformer()
    ways: dict[str, Score] = {
        # The first of these reads the candidates, the others find them kept.
        "transformer, first time": transformer.cosines,
        "transformer, kept": transformer.cosines,
        "late interaction, kept": transformer.late_interaction,
    }
    if options.cross_encoder:
        ways["cross-encoder"] = OnnxReranker("cross-encoder", options.cross_encoder).score
    bench = Bench(ways, options.depth)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_engine(settings, settings.code_model) as engine:
            for repo, entry in load_repos(options.eval):
                if options.only and repo.name not in options.only:
                    continue
                await index(engine, settings, repo, checkout(options.checkouts, entry, False))
                await bench.ask(engine, repo, options.queries)
                note(f"{repo.name} ({repo.language})")
    return with_load({"commit": commit(), "depth": options.depth, **bench.report()})


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--eval", type=Path, required=True, help="folder with repos.json")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--cross-encoder", type=Path, help="folder with an ONNX file")
    parser.add_argument("--only", nargs="*", help="names of repositories")
    parser.add_argument("--queries", type=int, default=1_000, help="of a repository, at most")
    parser.add_argument("--depth", type=int, default=20, help="candidates that are scored")
    print(json.dumps(asyncio.run(measure(parser.parse_args())), indent=2))


if __name__ == "__main__":
    main()
