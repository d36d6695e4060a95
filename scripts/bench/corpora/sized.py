"""Corpora of several sizes, taken from one folder of source files, with queries about them."""

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.source.walk import SourceFile, walk
from ctx_indexer.syntax.outline import outline
from scripts.bench.figures import note

SEED = 7
ROUNDS = 3
SYMBOL_QUERIES = 40
DOCSTRING_QUERIES = 30
TOPIC_QUERIES = 30
LIMIT = 10  # results of a query, for every program that is measured

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


@dataclass(frozen=True)
class Corpus:
    """The files of one size, copied, and the queries of a warm-up round and the measured ones."""

    folder: Path
    data: Path
    rounds: Sequence[Sequence[str]]

    @property
    def measured(self) -> list[str]:
        return [query for each in self.rounds[1:] for query in each]


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
        chunks += len(chunk(outline(file.text(folder), file.language)))
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
