"""Retrieval quality: NDCG@10 over annotated queries, with an ablation of every ranking rule.

    .venv/bin/python -m scripts.bench.quality.retrieval --eval EVAL --checkouts FOLDER \
        --out results.json

EVAL holds repos.json (name, language, url, revision, benchmark_root) and NAME.json for each of
them: queries `q` with targets `rel` and `sec` (a path, or a path with start and end lines) and a
category `cat`. FOLDER holds a checkout NAME of each; --clone makes those that are missing.

A target's rank is that of the first of ten results whose path matches (either is a suffix of the
other) and whose lines overlap the target's. Relevance is binary; the mean is taken over a
repository's queries, then over a language's repositories, then over the languages.
"""

import argparse
import asyncio
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.search.definition_choice import choose_definitions
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.search.weights import DEFAULT, Weights
from ctx_indexer.view.view import View
from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit

RESULTS = 10
PER_PATH = 2  # the tool's default
NEUTRAL_FACTORS = {"other_case", "test", "docs", "low_priority", "generated", "imports", "repeat"}
FUSION = {"lexical", "dense"}
DEPENDENT = {
    "nested",
    "assigned",
    "outer_only",
    "qualified",
    "literal_definition",
    "usage",
    "changelog",
    "far_below",
}  # shares of `definition`, not rules of their own


@dataclass(frozen=True)
class Repo:
    """A repository of the benchmark and its queries."""

    name: str
    language: str
    root: str
    queries: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Answered:
    """A query's score under one set of weights."""

    repo: Repo
    category: str
    query: str
    ndcg: float


def neutral(name: str) -> float:
    return 1.0 if name in NEUTRAL_FACTORS else 0.0


def variants() -> dict[str, Weights]:
    """The ranking as it is, without one leg, without all rules, and without each rule."""
    rules = [f.name for f in fields(Weights) if f.name not in FUSION | DEPENDENT]
    bare = replace(DEFAULT, **{name: neutral(name) for name in rules})
    return {
        "full": DEFAULT,
        "lexical + rules": replace(DEFAULT, dense=0.0),
        "dense + rules": replace(DEFAULT, lexical=0.0),
        "hybrid, no rules": bare,
        "lexical, no rules": replace(bare, dense=0.0),
        "dense, no rules": replace(bare, lexical=0.0),
        **{f"without {name}": replace(DEFAULT, **{name: neutral(name)}) for name in rules},
    }


# --- scoring -------------------------------------------------------------------------------


def hits(target: Any, result: Mapping[str, Any]) -> bool:
    path = target if isinstance(target, str) else target["path"]
    found = result["path"]
    if not (path.endswith(found) or found.endswith(path)):
        return False
    if isinstance(target, str) or "start" not in target:
        return True
    return bool(result["start_line"] <= target["end"] and result["end_line"] >= target["start"])


def ndcg(results: Sequence[Mapping[str, Any]], targets: Sequence[Any]) -> float:
    ranks = [next((r for r, x in enumerate(results) if hits(t, x)), None) for t in targets]
    gained = sum(1 / math.log2(rank + 2) for rank in ranks if rank is not None)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(RESULTS, len(targets))))
    return gained / ideal


def by_language(answered: Sequence[Answered]) -> dict[str, float]:
    repos: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in answered:
        repos[item.repo.language, item.repo.name].append(item.ndcg)
    languages: dict[str, list[float]] = defaultdict(list)
    for (language, _), scores in repos.items():
        languages[language].append(mean(scores))
    return {language: round(mean(scores), 4) for language, scores in languages.items()}


def by_category(answered: Sequence[Answered]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for item in answered:
        found[item.category].append(item.ndcg)
    return {category: round(mean(scores), 4) for category, scores in sorted(found.items())}


def summary(answered: Sequence[Answered]) -> dict[str, Any]:
    languages = by_language(answered)
    return {
        "mean": round(mean(languages.values()), 4),
        "languages": languages,
        "categories": by_category(answered),
    }


# --- running -------------------------------------------------------------------------------


def load_repos(folder: Path) -> list[tuple[Repo, dict[str, str]]]:
    found = []
    for entry in json.loads((folder / "repos.json").read_text()):
        queries = json.loads((folder / f"{entry['name']}.json").read_text())
        repo = Repo(entry["name"], entry["language"], entry["benchmark_root"], queries)
        found.append((repo, entry))
    return found


def checkout(folder: Path, entry: Mapping[str, str], clone: bool) -> Path:
    path = folder / entry["name"]
    if not path.is_dir() and clone:
        subprocess.run(["git", "clone", "--quiet", entry["url"], str(path)], check=True)
        command = ["git", "-C", str(path), "checkout", "--quiet", entry["revision"]]
        subprocess.run(command, check=True)
    if not path.is_dir():
        raise SystemExit(f"{path} is missing: check it out at {entry['revision']}, or use --clone")
    return path


async def index(engine: Engine, settings: Settings, repo: Repo, path: Path) -> None:
    state = Manifest(settings.data_dir / "index.sqlite")
    indexer = Indexer(engine.vectors, engine.embedder, state, store_key="bench")
    await indexer.index(path, collection=repo.name, repo=repo.name, subdir=repo.root)
    state.close()


async def answer(engine: Engine, repo: Repo, weights: Weights, definitions: bool) -> list[Answered]:
    searcher = Searcher(engine.vectors, engine.embedder, weights)
    answered = []
    for query in repo.queries:
        parsed = parse_queries(query["q"])
        request = SearchRequest(parsed, limit=RESULTS, per_path=PER_PATH)
        found = await searcher.search(View(repo.name), request)
        results = [asdict(hit.chunk) for hit in found.hits]
        if definitions:
            spans = [choose_definitions(h.chunk, parsed[0], SearchFilters())[0] for h in found.hits]
            results = [
                {"path": hit.chunk.path, **span._asdict()}
                for hit, span in zip(found.hits, spans, strict=True)
            ]
        score = ndcg(results, [*query["rel"], *query["sec"]])
        answered.append(Answered(repo, query["cat"], query["q"], score))
    return answered


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    chosen = {"full": DEFAULT} if options.quick else variants()
    answered: dict[str, list[Answered]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_engine(settings, settings.code_model) as engine:
            for repo, entry in load_repos(options.eval):
                path = checkout(options.checkouts, entry, options.clone)
                await index(engine, settings, repo, path)
                for name, weights in chosen.items():
                    answered[name] += await answer(engine, repo, weights, options.definitions)
                scores = [a.ndcg for a in answered["full"] if a.repo is repo]
                print(f"{repo.name:<12} {mean(scores):.3f}", file=sys.stderr, flush=True)
            model = engine.embedder.name
    if options.misses:
        show_misses(answered["full"], options.misses)
    return {
        "commit": commit(),
        "model": model,
        "variants": {n: summary(a) for n, a in answered.items()},
    }


def show_misses(answered: Sequence[Answered], count: int) -> None:
    for item in sorted(answered, key=lambda a: a.ndcg)[:count]:
        print(f"{item.ndcg:.2f} {item.repo.name} [{item.category}] {item.query}", file=sys.stderr)


def table(report: Mapping[str, Any]) -> str:
    full = report["variants"]["full"]
    columns = [*full["languages"], *full["categories"]]
    lines = [f"| variant | mean | {' | '.join(columns)} |", "| --- " * (len(columns) + 2) + "|"]
    for name, scores in report["variants"].items():
        values = [*scores["languages"].values(), *scores["categories"].values()]
        cells = " | ".join(f"{value:.3f}" for value in values)
        lines.append(f"| {name} | {scores['mean']:.4f} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--eval", type=Path, required=True, help="folder with repos.json")
    parser.add_argument(
        "--checkouts", type=Path, required=True, help="folder with the repositories"
    )
    parser.add_argument("--clone", action="store_true", help="clone what is missing")
    parser.add_argument("--quick", action="store_true", help="no ablations")
    parser.add_argument("--definitions", action="store_true", help="score definitions, not chunks")
    parser.add_argument("--misses", type=int, default=0, help="show the worst queries")
    parser.add_argument("--out", type=Path, help="write the results as JSON")
    options = parser.parse_args()
    report = asyncio.run(measure(options))
    print(table(report))
    if options.out:
        options.out.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
