"""Answers: do they cite the right file, and say when the code has none?

    .venv/bin/python -m scripts.bench.quality.answers --questions FOLDER --checkouts FOLDER

FOLDER holds flask, requests, pytest and sphinx at the commits of SWE-QA's repo_with_version.txt.
A reference answer names files; those of them that exist are what should be cited. With `--model`, a
sample of the questions is answered without and with a GGUF file, and nothing else is asked.
"""

import argparse
import asyncio
import contextlib
import json
import re
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from ctx_core.engine.engine import open_engine
from ctx_core.llm.factory import open_decoder
from ctx_core.llm.protocol import Generation, StreamingDecoder
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.calls import call_in_process
from ctx_core.settings import Settings
from ctx_indexer.answers.check import is_supported
from ctx_indexer.service import open_indexer
from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note

REPOSITORIES = ("flask", "requests", "pytest", "sphinx")
NOT_FOUND = "Not found in the code."
DECODED = "decoder"
_FILE = re.compile(r"[\w./-]+\.(?:py|rst|md|toml|cfg|html|js|txt|ini)\b")
_CITED = re.compile(r"\[(\d+)\]")
# Questions that the code of none of the four answers: other fields first, then near ones.
UNANSWERABLE = (
    "How does the elevator controller schedule requests between floors?",
    "Where is the double-entry ledger balanced at the end of the month?",
    "How are protein structures folded from an amino acid sequence?",
    "Which function computes the checksum of an Ethernet frame?",
    "How does the ray tracer refract light through glass?",
    "Where are MQTT messages acknowledged with quality of service 2?",
    "How does the compiler allocate registers by graph colouring?",
    "How are satellites' orbits propagated with SGP4?",
    "Where is the hospital's bed occupancy forecast?",
    "How does the game save the inventory of a player?",
    "How are Bluetooth devices paired with a passkey?",
    "Which class renders glyphs with signed distance fields?",
    "How does the trading bot place a stop-loss order?",
    "Where is the photo's EXIF orientation corrected?",
    "How is the genetic algorithm's crossover implemented?",
    "How does the thermostat learn a heating schedule?",
    "Where are PostgreSQL replication slots monitored?",
    "How does the drone hold its altitude with a PID controller?",
    "How are subtitles burned into a video stream?",
    "Which module books seats and releases them after ten minutes?",
    "How does it sign in with a passkey over WebAuthn?",
    "Where is the OpenAPI schema generated from type hints?",
    "How are background jobs queued in RabbitMQ?",
    "How does it balance load between several upstream servers?",
    "Where is the Docker image built in a multi-stage build?",
    "How does it stream server-sent events to a React front end?",
    "Where are translations fetched from a remote translation memory?",
    "How does it trace requests with OpenTelemetry spans?",
    "Where is the plugin marketplace that sells extensions?",
    "How does it profile memory with flame graphs?",
)


@dataclass
class Figures:
    """What was counted over answers of one kind."""

    recalls: list[float] = field(default_factory=list)
    any_right: list[bool] = field(default_factory=list)
    precisions: list[float] = field(default_factory=list)
    invented: int = 0
    sentences: int = 0
    supported: int = 0
    dropped: int = 0
    degraded: int = 0
    not_found: int = 0
    seconds: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        return {
            "answers": len(self.recalls),
            "file recall": round(mean(self.recalls), 3),
            "a right file": round(mean(self.any_right), 3),
            "citation precision": round(mean(self.precisions), 3) if self.precisions else None,
            "invented citations": self.invented,
            "sentences": self.sentences,
            "supported": round(self.supported / max(self.sentences, 1), 3),
            "dropped sentences": self.dropped,
            "degraded to extractive": self.degraded,
            "wrongly not found": self.not_found,
            "p50 seconds": round(median(self.seconds), 2),
            "p50 tokens": median(self.characters) // 4,
        }


def named_files(answer: str, files: Sequence[str]) -> set[str]:
    """Return the files of a repository that a reference answer names, by their path's end."""
    found = set()
    for name in set(_FILE.findall(answer)):
        ends = [file for file in files if file == name.strip("/") or file.endswith(f"/{name}")]
        if len(ends) == 1:
            found.add(ends[0])
    return found


def score(figures: Figures, gold: set[str], paths: Sequence[str]) -> None:
    cited = set(paths)
    figures.recalls.append(len(gold & cited) / len(gold))
    figures.any_right.append(bool(gold & cited))
    if cited:
        figures.precisions.append(len(gold & cited) / len(cited))


def check_body(figures: Figures, body: Mapping[str, Any], root: Path) -> None:
    """Count citations that do not exist, and sentences whose cited lines do not support them."""
    cited = {each["id"]: each for each in body["citations"]}
    for each in cited.values():
        file = root / each["path"]
        lines = len(file.read_text(errors="replace").splitlines()) if file.is_file() else 0
        figures.invented += not 1 <= each["start_line"] <= each["end_line"] <= lines
    for line in body["answer"].splitlines():
        numbers = [int(number) for number in _CITED.findall(line)]
        figures.invented += sum(number not in cited for number in numbers)
        figures.sentences += bool(numbers)
        text = "\n".join(_lines(root, cited[number]) for number in numbers if number in cited)
        said = re.sub(r"`[^`]*`(?: \([^)]*\))?: ", "", _CITED.sub("", line)).strip()
        plain = re.sub(r"[`:~]", "", said)
        figures.supported += bool(numbers) and (
            is_supported(said, text) or " ".join(plain.split()) in " ".join(text.split())
        )


def _lines(root: Path, citation: Mapping[str, Any]) -> str:
    rows = (root / citation["path"]).read_text(errors="replace").splitlines()
    shown = "\n".join(rows[citation["start_line"] - 1 : citation["end_line"]])
    return f"{citation['path']} {citation['symbol']}\n{re.sub('[`:~]', ' ', shown)}\n{shown}"


@dataclass
class Speed:
    """How fast a decoder wrote: tokens, and the seconds from a text's first one to its last.

    On a busy machine the seconds of the processor tell more than those of the clock.
    """

    tokens: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def timed(self, decoder: StreamingDecoder) -> None:
        """Count what a decoder streams from now on; its parts are tokens."""
        plain = decoder.stream

        async def stream(request: Generation) -> AsyncGenerator[str, None]:
            before: tuple[float, float] | None = None
            async with contextlib.aclosing(plain(request)) as texts:
                async for text in texts:
                    now = time.perf_counter(), time.process_time()
                    if before is not None:
                        self.tokens += 1
                        self.seconds += now[0] - before[0]
                        self.cpu += now[1] - before[1]
                    before = now
                    yield text

        decoder.stream = stream  # type: ignore[method-assign]


@dataclass
class Measured:
    """What is measured over all repositories."""

    figures: dict[str, Figures]
    abstained: dict[str, dict[str, int]] = field(default_factory=dict)
    speed: Speed = field(default_factory=Speed)


@dataclass(frozen=True)
class Questions:
    """The questions of one repository whose reference answer names files, and those files.

    Where a decoder answers, which takes long, a sample that is spread over them is asked.
    """

    root: Path
    asked: Sequence[tuple[str, set[str]]]
    sample: Sequence[tuple[str, set[str]]]

    @classmethod
    def read(cls, name: str, options: argparse.Namespace) -> "Questions":
        root = options.checkouts / name
        files = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
        lines = (options.questions / f"{name}.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        gold = [(each["question"], named_files(each["answer"], files)) for each in rows]
        asked = [each for each in gold if each[1]]
        step = max(len(asked) // options.sample, 1)
        return cls(root, asked, asked[::step][: options.sample] if options.model else [])


Ask = Callable[..., Awaitable[dict[str, Any]]]


@contextlib.asynccontextmanager
async def asking(settings: Settings) -> AsyncIterator[Ask]:
    """Yield how the tools of an indexer in this process are called."""
    async with open_engine(settings, settings.code_model) as engine:
        memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
        async with open_indexer(settings, engine, memories) as indexer:

            async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
                return await call_in_process(indexer.service, settings, tool, arguments)

            yield ask


async def measure_extractive(questions: Questions, measured: Measured, ask: Ask) -> int:
    """Ask the questions of a repository; returns how many unanswerable ones were said to be."""
    figures = measured.figures
    await ask("qdrant_index")
    for question, gold in questions.sample or questions.asked:
        for limit in (5, 10):
            found = await ask("repo_search", query=question, limit=limit)
            retrieved = figures[f"retrieval@{limit}"]
            score(retrieved, gold, [hit["path"] for hit in found["results"]])
            retrieved.seconds.append(found["search_time_ms"] / 1000)
            retrieved.characters.append(0)
        started = time.process_time()
        body = await ask("context_answer", query=question)
        seconds = time.process_time() - started
        add(figures["extractive"], body, gold, questions.root, seconds)
    return await abstentions(ask)


async def abstentions(ask: Ask, **sizes: Any) -> int:
    bodies = [await ask("context_answer", query=each, **sizes) for each in UNANSWERABLE]
    return sum(body["answer"] == NOT_FOUND for body in bodies)


async def measure_decoded(questions: Questions, measured: Measured, ask: Ask) -> int:
    """Ask the sample with a decoder; returns as `measure_extractive`."""
    sizes = {"budget_tokens": 300, "max_tokens": 64, "temperature": 0}
    for question, gold in questions.sample:
        started = time.perf_counter()
        body = await ask("context_answer", query=question, **sizes)
        seconds = time.perf_counter() - started
        add(measured.figures[DECODED], body, gold, questions.root, seconds)
    return await abstentions(ask, **sizes)


async def measure_repository(
    name: str, options: argparse.Namespace, measured: Measured, folder: Path
) -> None:
    questions = Questions.read(name, options)
    abstained = measured.abstained.setdefault(name, {})
    plain = Settings(data_dir=folder, workspace=questions.root)
    async with asking(plain) as ask:
        abstained["extractive"] = await measure_extractive(questions, measured, ask)
    if options.model:
        model = {"DECODER_MODEL": options.model, "DECODER_CONTEXT_TOKENS": 2048}
        settings = Settings(data_dir=folder, workspace=questions.root, **model)
        async with open_decoder(settings) as decoder, asking(settings) as ask:
            assert decoder is not None
            measured.speed.timed(decoder)
            abstained[DECODED] = await measure_decoded(questions, measured, ask)
    note(f"{name}: of {len(UNANSWERABLE)} said to be unanswerable: {abstained}")


def add(
    figures: Figures, body: Mapping[str, Any], gold: set[str], root: Path, seconds: float
) -> None:
    score(figures, gold, [each["path"] for each in body["citations"]])
    check_body(figures, body, root)
    figures.seconds.append(seconds)
    figures.characters.append(len(body["answer"]))
    figures.dropped += body.get("dropped_sentences", 0)
    figures.degraded += bool(body.get("degraded"))
    figures.not_found += body["answer"] == NOT_FOUND


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    names = ["retrieval@5", "retrieval@10", "extractive", DECODED]
    measured = Measured({name: Figures() for name in names})
    for name in options.only or REPOSITORIES:
        with tempfile.TemporaryDirectory() as folder:
            kept = options.data / name if options.data else Path(folder)
            await measure_repository(name, options, measured, kept)
    speed = measured.speed
    return {
        "commit": commit(),
        "figures": {n: each.summary() for n, each in measured.figures.items() if each.recalls},
        "abstained of 30": measured.abstained,
        "tokens a second": round(speed.tokens / speed.seconds, 1) if speed.seconds else None,
        "tokens a CPU-second": round(speed.tokens / speed.cpu, 1) if speed.cpu else None,
    }


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--model", help="a GGUF file: a path, or package:file")
    parser.add_argument("--sample", type=int, default=10, help="questions a repository")
    parser.add_argument("--data", type=Path, help="keep the indexes in this folder")
    parser.add_argument("--only", nargs="*")
    print(json.dumps(asyncio.run(measure(parser.parse_args())), indent=2))


if __name__ == "__main__":
    main()
