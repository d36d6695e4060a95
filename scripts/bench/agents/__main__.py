"""What an agent pays for answers: calls and tokens with our tools, and with ripgrep.

    .venv/bin/python -m scripts.bench.agents --eval EVAL --checkouts FOLDER --django FOLDER

No language model takes part: two fixed policies ask and then read what is named, until the lines
that answer a question have been shown, or they give up. EVAL holds annotated queries as for
quality.py; look-ups, callers and subclasses are drawn from Django and three other repositories, by
other parsers than ours. `rg` and Universal Ctags must be installed.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from fastmcp import Client

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from scripts.bench.agents.ctx import CtxAgent
from scripts.bench.agents.questions import (
    AgentTask,
    annotated,
    drawn,
    listed_files,
    load_annotated,
)
from scripts.bench.agents.ripgrep import RipgrepAgent, is_answered
from scripts.bench.agents.transcript import Transcript
from scripts.bench.arguments import program_parser

BUDGETS = (500, 1_000, 2_000, 4_000)
# Drawn questions: 100 look-ups, 100 callers, as many subclasses as there are up to 100.
DRAWN: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "django": ("python", {"look-up": 40, "callers": 60, "subclasses": 60}),
    "pydantic": ("python", {"look-up": 20, "callers": 40, "subclasses": 30}),
    "gson": ("java", {"look-up": 20, "subclasses": 10}),
    "trpc": ("typescript", {"look-up": 20}),
}
FAMILIES = (
    "question, lines",
    "question, file",
    "name, lines",
    "name, file",
    "look-up",
    "callers",
    "subclasses",
)


@dataclass(frozen=True)
class Outcome:
    """What one agent paid for one question, and what it had seen by then."""

    question: AgentTask
    transcript: Transcript

    @property
    def answered(self) -> bool:
        return is_answered(self.question, self.transcript)

    @property
    def tokens(self) -> int:
        """Tokens up to the last target; all of them where one was not found."""
        costs = [self.transcript.cost(target) for target in self.question.targets]
        known = [cost for cost in costs if cost is not None]
        return max(known) if len(known) == len(costs) else self.transcript.tokens

    def recall(self, budget: int) -> float:
        costs = [self.transcript.cost(target) for target in self.question.targets]
        return mean(cost is not None and cost <= budget for cost in costs)


@dataclass(frozen=True)
class Repository:
    """A checkout, the folder of it that is searched, and the questions about it."""

    name: str
    root: Path
    subdir: str
    questions: Sequence[AgentTask]


def repositories(options: argparse.Namespace) -> list[Repository]:
    found = []
    chosen = options.only.split(",") if options.only else None
    for entry, queries in load_annotated(options.eval):
        if chosen and entry["name"] not in chosen:
            continue
        name, subdir = entry["name"], entry["benchmark_root"] or ""
        root = options.checkouts / name
        paths = listed_files(root, subdir)
        questions = annotated(name, entry["language"], queries, paths)
        questions += drawn_questions(name, root, subdir)
        found.append(Repository(name, root, subdir, questions))
    if chosen and "django" not in chosen:
        return found
    django = drawn_questions("django", options.django, "")
    return [*found, Repository("django", options.django, "", django)]


def drawn_questions(name: str, root: Path, subdir: str) -> list[AgentTask]:
    if name not in DRAWN:
        return []
    language, counts = DRAWN[name]
    return drawn(name, language, root, listed_files(root, subdir, language), counts)


@contextlib.asynccontextmanager
async def indexer_client(
    engine: Engine, settings: Settings, repository: Repository
) -> AsyncIterator[Client[Any]]:
    """Index a repository and yield a client of the server that holds it."""
    own = settings.model_copy(update={"workspace": repository.root})
    memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
    async with open_indexer(own, engine, memories) as opened:
        server: Any = build(opened.service, own, Metrics("indexer", {}))
        async with Client(server) as client:
            arguments = {"subdir": repository.subdir, "collection": repository.name}
            await client.call_tool("qdrant_index", arguments)
            yield client


async def measure(options: argparse.Namespace) -> dict[str, list[Outcome]]:
    outcomes: dict[str, list[Outcome]] = {"ctx": [], "ripgrep": []}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder) / "data", rate_limit_per_minute=0)
        async with open_engine(settings, settings.code_model) as engine:
            for repository in repositories(options):
                async with indexer_client(engine, settings, repository) as client:
                    agents: dict[str, CtxAgent | RipgrepAgent] = {
                        "ctx": CtxAgent(client, repository.name),
                        "ripgrep": RipgrepAgent(repository.root, repository.subdir),
                    }
                    for name, agent in agents.items():
                        outcomes[name] += await answers(agent, repository.questions)
                print(repository.name, len(repository.questions), file=sys.stderr, flush=True)
    return outcomes


async def answers(agent: CtxAgent | RipgrepAgent, questions: Sequence[AgentTask]) -> list[Outcome]:
    found = []
    for question in questions:
        transcript = Transcript()
        await agent.answer(question, transcript)
        found.append(Outcome(question, transcript))
    return found


# --- figures -------------------------------------------------------------------------------


def figures(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, dict[str, dict[str, float]]]:
    """Return the figures of each family and agent."""
    table: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for family in FAMILIES:
        for agent, all_outcomes in outcomes.items():
            own = [each for each in all_outcomes if each.question.family == family]
            if not own:
                continue
            table[family][agent] = {
                "questions": len(own),
                "answered": sum(each.answered for each in own),
                "calls": round(mean(each.transcript.calls for each in own), 2),
                "tokens": round(mean(each.tokens for each in own)),
                **{f"recall@{n}": round(mean(o.recall(n) for o in own), 3) for n in BUDGETS},
            }
    return dict(table)


def markdown(table: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    budgets = [f"{budget:,}" for budget in BUDGETS]
    columns = ["family", "questions", "with", "answered", "calls", "tokens", *budgets]
    lines = [f"| {' | '.join(columns)} |", "| --- | ---: | --- |" + " ---: |" * 7]
    for family, agents in table.items():
        for agent, row in agents.items():
            cells = [family, f"{row['questions']:.0f}", agent, f"{row['answered']:.0f}"]
            cells += [f"{row['calls']:.2f}", f"{row['tokens']:,.0f}"]
            cells += [f"{row[f'recall@{budget}']:.3f}" for budget in BUDGETS]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def worst(outcomes: Mapping[str, Sequence[Outcome]], count: int) -> None:
    """Print the questions that cost our agent the most, for each family."""
    for family in FAMILIES:
        own = [each for each in outcomes["ctx"] if each.question.family == family]
        own.sort(key=lambda each: (each.answered, -each.transcript.calls, -each.tokens))
        for each in own[:count]:
            question, cost = each.question, each.transcript
            print(
                f"{family}: {question.repo} {question.text!r} answered={each.answered} "
                f"calls={cost.calls} tokens={each.tokens} targets={len(question.targets)} "
                f"{question.targets[0].path}:{question.targets[0].lines[:1]}",
                file=sys.stderr,
            )


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--eval", type=Path, required=True, help="folder with repos.json")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--django", type=Path, required=True, help="a checkout of Django")
    parser.add_argument("--only", help="names of repositories, with commas between them")
    parser.add_argument("--worst", type=int, default=0, help="show the dearest questions")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    outcomes = asyncio.run(measure(options))
    table = figures(outcomes)
    print(markdown(table))
    if options.worst:
        worst(outcomes, options.worst)
    if options.out:
        options.out.write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
