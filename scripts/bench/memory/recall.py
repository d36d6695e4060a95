"""Measures what the memory server finds: the share of a question's evidence in its first results.

    .venv/bin/python -m scripts.bench.memory.recall --locomo locomo10.json --part first
    .venv/bin/python -m scripts.bench.memory.recall --own

LoCoMo (snap-research/LoCoMo, for research only, so it is not in this repository): ten long
conversations. One thread a conversation, one entry a turn, asked by `hybrid_search_context` within
its thread, or with `--haystack` over all threads at once. Recall@k is the share of a question's
evidence turns among the first k entries, questions of categories 1 to 4. `--ablation` ranks without
each weight. `--own`: questions about this project's own documents and
history (`recall_questions.json`), asked by `find`. Prints one JSON object.
"""

import argparse
import asyncio
import contextlib
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any

from ctx_core.engine.engine import open_engine
from ctx_core.ranking.calibration import calibration
from ctx_core.ranking.scoring import WEIGHTS, Weights, rank
from ctx_core.settings import Settings
from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.search.retrievers import MODES, fuse
from ctx_memory.service import MemoryServer, open_memory
from scripts.bench.arguments import program_parser
from scripts.bench.corpora.own import own_entries, own_questions
from scripts.bench.figures import ROOT, commit, note, percentiles, with_load

DEPTHS = (1, 5, 10, 20)
CATEGORIES = (1, 2, 3, 4)  # multi-hop, time, open domain, single-hop; 5 has no answer
BATCH = 100
ABLATION_DEPTH = 64  # entries by each vector, as for 20 results
RRF_K = 60
PARTS = {"first": slice(0, 5), "last": slice(5, 10), "all": slice(0, 10)}


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, its category, and the keys of the entries that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation by key, in order, and its questions."""

    name: str
    turns: Mapping[str, str]
    questions: Sequence[LabelledQuestion]


def load(path: Path, part: slice) -> list[Conversation]:
    """Read LoCoMo's conversations."""
    return [_conversation(raw) for raw in json.loads(path.read_text())[part]]


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    name, sessions = raw["sample_id"], raw["conversation"]
    numbers = sorted(int(key[8:]) for key in sessions if re.fullmatch(r"session_\d+", key))
    turns = {
        f"{name} {turn['dia_id']}": f"{turn['speaker']}: {turn['text']}"
        for number in numbers
        for turn in sessions[f"session_{number}"]
    }
    questions = []
    for each in raw["qa"]:
        marks = re.findall(r"D(\d+):(\d+)", " ".join(each.get("evidence") or []))
        keys = {f"{name} D{int(session)}:{int(turn)}" for session, turn in marks}
        if each["category"] in CATEGORIES and keys & turns.keys():
            evidence = frozenset(keys & turns.keys())
            questions.append(LabelledQuestion(each["question"], each["category"], evidence))
    return Conversation(name, turns, questions)


class Recall:
    """Collects the shares of evidence found, by depth and category, and the time of each call."""

    def __init__(self) -> None:
        self._shares: dict[tuple[int, int], list[float]] = defaultdict(list)
        self._seconds: list[float] = []

    def add(self, question: LabelledQuestion, found: Sequence[str], seconds: float) -> None:
        self._seconds.append(seconds)
        for depth in DEPTHS:
            share = len(question.evidence.intersection(found[:depth])) / len(question.evidence)
            self._shares[depth, question.category].append(share)

    def figures(self) -> dict[str, Any]:
        categories = sorted({category for _, category in self._shares})
        every = {
            depth: [share for category in categories for share in self._shares[depth, category]]
            for depth in DEPTHS
        }
        return {
            "questions": len(every[1]),
            "all": {f"@{depth}": round(mean(every[depth]), 3) for depth in DEPTHS},
            **{
                f"category {category}": {
                    f"@{depth}": round(mean(self._shares[depth, category]), 3) for depth in DEPTHS
                }
                for category in categories
                if len(categories) > 1
            },
            "ms": percentiles(self._seconds),
        }


@contextlib.asynccontextmanager
async def opened(model: str | None) -> AsyncIterator[tuple[MemoryServer, dict[str, Any]]]:
    """Open a memory server over an empty folder; yield it and its tools by name."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            data_dir=Path(folder),
            memory_embedding_model=model,
            enable_summary_generation=False,
        )
        async with (
            open_engine(settings, settings.memory_model) as engine,
            open_memory(settings, engine) as memory,
        ):
            yield memory, {tool.name: tool.run for tool in memory.service.tools}


async def store_turns(
    memory: MemoryServer, tools: Mapping[str, Any], conversations: Sequence[Conversation]
) -> dict[int, str]:
    """Store every turn as a thread entry; return the key of each id."""
    keys: dict[int, str] = {}
    for conversation in conversations:
        turns = list(conversation.turns.items())
        for start in range(0, len(turns), BATCH):
            batch = turns[start : start + BATCH]
            entries = [
                {"thread_id": conversation.name, "source": "user", "text": text}
                for _, text in batch
            ]
            body = await tools["store_context_batch"](entries=entries)
            for (key, _), result in zip(batch, body["results"], strict=True):
                keys[result["context_id"]] = key
        note(f"stored {conversation.name}")
    await memory.storage.outbox.drain()
    return keys


async def locomo(given: argparse.Namespace) -> dict[str, Any]:
    conversations = load(given.locomo, PARTS[given.part])
    async with opened(given.model) as (memory, tools):
        begun, cpu = time.perf_counter(), time.process_time()
        keys = await store_turns(memory, tools, conversations)
        stored = {
            "entries": len(keys),
            "a_cpu_second": round(len(keys) / (time.process_time() - cpu), 1),
            "seconds": round(time.perf_counter() - begun, 1),
        }
        report: dict[str, Any] = {"stored": stored}
        if given.ablation:
            return report | await ablate(memory, conversations, keys)
        report["full"] = await ask(tools, conversations, keys, given.haystack)
        return report


async def ablate(
    memory: MemoryServer, conversations: Sequence[Conversation], keys: Mapping[int, str]
) -> dict[str, Any]:
    """Rank the candidates of each question anew, without each of the weights."""
    recalls: dict[str, Recall] = defaultdict(Recall)
    retrievers = memory.threads.hybrid.retrievers
    for conversation in conversations:
        criteria = Criteria(EntryKind.THREAD, threads=[conversation.name])
        for question in conversation.questions:
            begun = time.perf_counter()
            found = await retrievers.retrieve(question.text, MODES, criteria, ABLATION_DEPTH)
            taken = time.perf_counter() - begun
            for name, weights in variants().items():
                ranked = rank(question.text, found.candidates, calibration(found.model), weights)
                first = [keys[each.id] for each in ranked[: DEPTHS[-1]]]
                recalls[name].add(question, first, taken)
            fused = fuse([list(found[mode].hits) for mode in MODES], RRF_K)[: DEPTHS[-1]]
            recalls["ranks fused"].add(question, [keys[each.id] for each in fused], taken)
    return {name: recall.figures() for name, recall in recalls.items()}


def variants() -> dict[str, Weights]:
    """Return the ranking as it is, without each of its weights, and with two of them only."""
    without = {
        f"without {field.name}": replace(WEIGHTS, **{field.name: 0.0}) for field in fields(Weights)
    }
    nothing = replace(WEIGHTS, **{field.name: 0.0 for field in fields(Weights)})
    return {
        "full": WEIGHTS,
        **without,
        "words and meaning only": replace(nothing, words=WEIGHTS.words, meaning=WEIGHTS.meaning),
        "words only": replace(nothing, words=WEIGHTS.words),
        "meaning only": replace(nothing, meaning=WEIGHTS.meaning),
    }


async def ask(
    tools: Mapping[str, Any],
    conversations: Sequence[Conversation],
    keys: Mapping[int, str],
    haystack: bool,
) -> dict[str, Any]:
    recall = Recall()
    for conversation in conversations:
        for question in conversation.questions:
            where = {} if haystack else {"thread_id": conversation.name}
            begun = time.perf_counter()
            body = await tools["hybrid_search_context"](question.text, DEPTHS[-1], **where)
            taken = time.perf_counter() - begun
            recall.add(question, [keys[hit["id"]] for hit in body["results"]], taken)
    return recall.figures()


async def own(given: argparse.Namespace) -> dict[str, Any]:
    """Ask our own questions by `find`: an entry with the expected phrase is the evidence."""
    texts = own_entries(ROOT)
    async with opened(given.model) as (memory, tools):
        begun, cpu = time.perf_counter(), time.process_time()
        for text in texts:
            await tools["store"](text)
        await memory.storage.outbox.drain()
        stored = {
            "entries": len(texts),
            "a_cpu_second": round(len(texts) / (time.process_time() - cpu), 1),
            "seconds": round(time.perf_counter() - begun, 1),
        }
        recall, weak = Recall(), list[bool]()
        asked = [each for each in own_questions() if any(each[1] in text for text in texts)]
        note(f"{len(own_questions()) - len(asked)} questions have no entry any more")
        for text, phrase in asked:
            begun = time.perf_counter()
            body = await tools["find"](text, limit=DEPTHS[-1])
            taken = time.perf_counter() - begun
            found = [
                phrase if phrase in hit["information"] else hit["id"] for hit in body["results"]
            ]
            recall.add(LabelledQuestion(text, 0, frozenset([phrase])), found, taken)
            weak.append(body.get("weak", False))
        return {
            "stored": stored,
            "full": recall.figures(),
            "weak": round(mean(weak), 3),
            "weak_without_answer": round(await weak_share(tools, given.locomo), 3),
        }


async def weak_share(tools: Mapping[str, Any], locomo_file: Path | None) -> float:
    """Return how many questions that our documents cannot answer `find` marks as weak."""
    if locomo_file is None:
        return 0.0
    questions = [each.text for talk in load(locomo_file, PARTS["first"]) for each in talk.questions]
    bodies = [await tools["find"](text, limit=1) for text in questions[::4]]
    return mean(bool(body.get("weak")) for body in bodies)


def options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--part", choices=PARTS, default="first")
    parser.add_argument("--haystack", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--model", help="embedding model; unset: the default")
    return parser.parse_args()


def main() -> None:
    given = options()
    if not given.locomo and not given.own:
        raise SystemExit("name --locomo FILE or --own")
    figures = asyncio.run(own(given) if given.own else locomo(given))
    print(json.dumps(with_load({"commit": commit(), "model": given.model, **figures}), indent=2))


if __name__ == "__main__":
    main()
