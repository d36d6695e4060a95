"""Answers: do they cite the right file, and say when the code has none?

    .venv/bin/python scripts/bench/answers.py --questions SWE-QA/Benchmark --checkouts FOLDER

FOLDER holds flask, requests, pytest and sphinx at the commits of SWE-QA's repo_with_version.txt.
A reference answer names files; those of them that exist are what should be cited. `--model` writes
answers with a GGUF file too, for `--sample` questions a repository.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from scripts.bench.figures import commit, note  # noqa: E402
from services.core.engine.engine import open_engine  # noqa: E402
from services.core.memories.client import RemoteMemories  # noqa: E402
from services.core.serving.mcp.calls import call_in_process  # noqa: E402
from services.core.settings import Settings  # noqa: E402
from services.indexer.answers.check import is_supported  # noqa: E402
from services.indexer.service import open_indexer  # noqa: E402

REPOSITORIES = ("flask", "requests", "pytest", "sphinx")
NOT_FOUND = "Not found in the code."
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


async def measure_repository(
    name: str, options: argparse.Namespace, figures: dict[str, Figures], folder: Path
) -> int:
    """Ask the questions of a repository; returns how many unanswerable ones were said to be."""
    root = options.checkouts / name
    lines = (options.questions / f"{name}.jsonl").read_text().splitlines()
    questions = [json.loads(line) for line in lines]
    files = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    model = {"DECODER_MODEL": options.model, "DECODER_CONTEXT_TOKENS": 2048}
    plain = Settings(data_dir=folder, workspace=root)
    async with open_engine(plain, plain.code_model) as engine:
        memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
        async with open_indexer(plain, engine, memories) as indexer:

            async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
                return await call_in_process(indexer.service, plain, tool, arguments)

            await ask("qdrant_index")
            for each in questions:
                gold = named_files(each["answer"], files)
                if not gold:
                    continue
                for limit in (5, 10):
                    found = await ask("repo_search", query=each["question"], limit=limit)
                    paths = [hit["path"] for hit in found["results"]]
                    score(figures[f"retrieval@{limit}"], gold, paths)
                    figures[f"retrieval@{limit}"].seconds.append(found["search_time_ms"] / 1000)
                    figures[f"retrieval@{limit}"].characters.append(0)
                started = time.process_time()
                body = await ask("context_answer", query=each["question"])
                add(figures["extractive"], body, gold, root, time.process_time() - started)
            abstained = 0
            for question in UNANSWERABLE:
                body = await ask("context_answer", query=question)
                abstained += body["answer"] == NOT_FOUND
        if options.model:
            settings = Settings(data_dir=folder, workspace=root, **model)
            async with open_indexer(settings, engine, memories) as indexer:
                asked = [each for each in questions if named_files(each["answer"], files)]
                for each in asked[: options.sample]:
                    started = time.perf_counter()
                    arguments = {
                        **{"query": each["question"], "budget_tokens": 500},
                        **{"max_tokens": 96, "temperature": 0},
                    }
                    body = await call_in_process(
                        indexer.service, settings, "context_answer", arguments
                    )
                    gold = named_files(each["answer"], files)
                    seconds = time.perf_counter() - started
                    add(figures["SmolLM2-135M"], body, gold, root, seconds)
    return abstained


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
    names = ["retrieval@5", "retrieval@10", "extractive"]
    figures = {name: Figures() for name in [*names, *(["SmolLM2-135M"] if options.model else [])]}
    abstained: dict[str, int] = {}
    for name in options.only or REPOSITORIES:
        with tempfile.TemporaryDirectory() as folder:
            abstained[name] = await measure_repository(name, options, figures, Path(folder))
        note(f"{name}: {abstained[name]} of {len(UNANSWERABLE)} said to be unanswerable")
    shown = {name: each.summary() for name, each in figures.items() if each.recalls}
    return {"commit": commit(), "figures": shown, "abstained of 30": abstained}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--model", help="a GGUF file: a path, or package:file")
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    print(json.dumps(asyncio.run(measure(parser.parse_args())), indent=2))


if __name__ == "__main__":
    main()
