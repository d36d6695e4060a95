"""Documentation → code on packages that no model learnt from, language by language.

    python -m scripts.model.heldout --cache FOLDER [--model FOLDER ...] [--out results.json]

Query: the first sentence of a chunk's documentation. Corpus: all chunks of its package as the
indexer shows them, the asked documentation cut out of its own chunk. The figure is the mean
reciprocal rank; ties count against. BM25 is the lexical leg's: same terms, same weights.
"""

import argparse
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.factory import SHIPPED, shipped_models
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.text import bm25
from ctx_indexer.schema.points import bm25_vector
from ctx_indexer.source.classify import classify
from scripts.model.comments import comments, without
from scripts.model.packages import CACHE
from scripts.model.pairs import MIN_CODE_CHARACTERS, Source, package_sources

QUESTIONS_PER_PACKAGE = 300
MIN_QUESTIONS = 20  # of a language: fewer say nothing
SEED = 11

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Task:
    """A package: its chunks, and questions with the chunk that answers each."""

    language: str
    package: str
    texts: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[int]
    sources: Sequence[Source]


def tasks(root: Path) -> Iterator[Task]:
    """One task for each language of each held-out package."""
    for package in sorted(path for registry in root.iterdir() for path in registry.iterdir()):
        found: defaultdict[str, list[Source]] = defaultdict(list)
        for source in package_sources(package):
            if not classify(source.path, source.language).is_test:
                found[_family(source.language)].append(source)
        for language, sources in sorted(found.items()):
            task = _task(language, package.name, sources)
            if len(task.questions) >= MIN_QUESTIONS:
                yield task


def _family(language: str) -> str:
    return {"tsx": "typescript"}.get(language, language)


def _task(language: str, package: str, sources: list[Source]) -> Task:
    texts = [f"{source.head}\n{source.chunk.text}" for source in sources]
    asked = []
    for number, source in enumerate(sources):
        first = next(comments(source.chunk.text, source.language), None)
        code = without(source.chunk.text, [first]) if first else ""
        if first and len(code) >= MIN_CODE_CHARACTERS:
            asked.append((first.says, number, f"{source.head}\n{code}"))
    if len(asked) > QUESTIONS_PER_PACKAGE:
        asked = random.Random(SEED).sample(asked, QUESTIONS_PER_PACKAGE)
    for _, number, text in asked:
        texts[number] = text
    return Task(language, package, texts, [a[0] for a in asked], [a[1] for a in asked], sources)


def mean_rank(scores: Scores, answers: Sequence[int]) -> float:
    """The mean reciprocal rank; row i asks for the column answers[i]."""
    right = scores[np.arange(len(answers)), answers][:, None]
    return float((1 / (scores >= right).sum(axis=1)).mean())


def dense(embedder: Any) -> Callable[[Task], Scores]:
    def scores(task: Task) -> Scores:
        queries = embedder.embed_documents(task.questions)
        found: Scores = queries @ embedder.embed_documents(task.texts).T
        return found

    return scores


def lexical(task: Task) -> Scores:
    """The lexical leg: the terms that the indexer stores, IDF as Qdrant counts it."""
    postings: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for number, text in enumerate(task.texts):
        source = task.sources[number]
        shown = _with_text(source, text.partition("\n")[2])
        vector = bm25_vector(source.path, shown)
        for term, weight in zip(vector.indices, vector.values, strict=True):
            postings[term].append((number, weight))
    scores = np.zeros((len(task.questions), len(task.texts)), np.float32)
    for row, question in enumerate(task.questions):
        for term in bm25.query_vector(question).indices:
            holders = postings.get(term, [])
            rarity = math.log(1 + (len(task.texts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for number, weight in holders:
                scores[row, number] += rarity * weight
    return scores


def _with_text(source: Source, text: str) -> Any:
    from dataclasses import replace  # noqa: PLC0415

    return replace(source.chunk, text=text)


def by_language(all_tasks: Sequence[Task], score: Callable[[Task], Scores]) -> dict[str, float]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for task in all_tasks:
        found[task.language].append(mean_rank(score(task), task.answers))
    return {language: round(mean(each), 4) for language, each in sorted(found.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--model", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    all_tasks = list(tasks(options.cache / "src" / "heldout"))
    report = {"bm25": by_language(all_tasks, lexical)}
    for folder in options.model or [SHIPPED / name for name in shipped_models()]:
        embedder = StaticEmbedder(folder)
        report[embedder.name] = by_language(all_tasks, dense(embedder))
    for name, figures in report.items():
        cells = " ".join(f"{language} {value:.3f}" for language, value in figures.items())
        print(f"{name:<20} mean {mean(figures.values()):.4f} | {cells}")
    if options.out:
        options.out.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
