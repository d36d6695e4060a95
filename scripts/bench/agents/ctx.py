"""An agent with our tools: it asks, then reads what is named."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from fastmcp import Client
from mcp_types import TextContent

from scripts.bench.agents.questions import AgentTask
from scripts.bench.agents.ripgrep import MAX_CALLS, is_answered
from scripts.bench.agents.transcript import ShownLine, Transcript

HEADING = re.compile(r"^(?:[\w.-]+: )?(\S+):(\d+)-(\d+) ")
NUMBERED = re.compile(r"^(\d+)\t")
LISTED = re.compile(r"^(\S+):(\d+)-(\d+) \S+ \S+ \| ")
EXACT_LINE = re.compile(r"^(\d+):")
EXACT_SYMBOL = re.compile(r"^  in (.+)$")
MORE = 30  # results of a second search


class CtxAgent:
    """Answers questions about one collection with the lean tools of the indexer."""

    def __init__(self, client: Client[Any], collection: str) -> None:
        self._client = client
        self._collection = collection

    async def answer(self, question: AgentTask, transcript: Transcript) -> None:
        """Make calls until the policy has nothing more to read."""
        kind = question.family.split(",", maxsplit=1)[0]
        steps = {
            "question": self._ask,
            "name": self._look_up,
            "look-up": self._look_up,
            "callers": self._callers,
            "subclasses": self._subclasses,
        }[kind]
        async for _ in steps(question, transcript):
            if is_answered(question, transcript) or transcript.calls >= MAX_CALLS:
                return

    async def _ask(self, question: AgentTask, transcript: Transcript) -> AsyncIterator[None]:
        read: set[tuple[str, int, int]] = set()
        for arguments in ({}, {"limit": MORE}):
            result = await self._call(
                "repo_search", {"query": question.text, **arguments}, transcript
            )
            yield
            for hit in result.get("results", ()):
                span = hit["path"], hit["start_line"], hit["end_line"]
                whole = all(
                    (span[0], line) in transcript.seen for line in range(span[1], span[2] + 1)
                )
                if span in read or whole:
                    continue
                read.add(span)
                await self._read(transcript, path=span[0], start_line=span[1], end_line=span[2])
                yield

    async def _look_up(self, question: AgentTask, transcript: Transcript) -> AsyncIterator[None]:
        result = await self._read(transcript, name=question.text)
        yield
        for each in result.get("definitions", ()):
            lines = {"start_line": each["start_line"], "end_line": each["end_line"]}
            await self._read(transcript, path=each["path"], **lines)
            yield
        while "rest" in result:
            lines = {"start_line": result["end_line"] + 1}
            result = await self._read(transcript, path=result["path"], **lines)
            yield
        async for _ in self._ask(question, transcript):
            yield

    async def _callers(self, question: AgentTask, transcript: Transcript) -> AsyncIterator[None]:
        async for _ in self._pages(_exact(question, "call"), transcript):
            yield

    async def _subclasses(self, question: AgentTask, transcript: Transcript) -> AsyncIterator[None]:
        async for _ in self._pages(_exact(question, "base"), transcript):
            yield

    async def _pages(
        self, arguments: Mapping[str, Any], transcript: Transcript
    ) -> AsyncIterator[None]:
        offset = 0
        while True:
            result = await self._call("exact_search", {**arguments, "offset": offset}, transcript)
            yield
            offset += sum(len(each["lines"]) for each in result.get("results", ()))
            if offset >= result.get("total", 0):
                return

    async def _read(self, transcript: Transcript, **arguments: Any) -> Mapping[str, Any]:
        return await self._call("read_code", arguments, transcript)

    async def _call(
        self, tool: str, arguments: Mapping[str, Any], transcript: Transcript
    ) -> Mapping[str, Any]:
        given = {name: value for name, value in arguments.items() if value != 0}
        everything = {**given, "collection": self._collection}
        answer = await self._client.call_tool(tool, everything, raise_on_error=False)
        text = "\n".join(each.text for each in answer.content if isinstance(each, TextContent))
        transcript.add(f"{tool} {json.dumps(given)}", text, shown_places(tool, text))
        return answer.structured_content or {}


def _exact(question: AgentTask, role: str) -> dict[str, Any]:
    return {
        "pattern": question.text,
        "whole_word": True,
        "role": role,
        "language": question.language,
    }


def shown_places(tool: str, text: str) -> Iterator[ShownLine]:
    """Yield the lines of code that an answer shows, as a reader of its text sees them."""
    rows = text.split("\n")
    yield from _exact_places(rows) if tool == "exact_search" else _numbered_places(rows)


def _numbered_places(rows: Sequence[str]) -> Iterator[ShownLine]:
    path, end = "", 0
    for row in rows:
        end += len(row) + 1
        if numbered := NUMBERED.match(row):
            yield ShownLine(end, path, int(numbered.group(1)))
        elif listed := LISTED.match(row):
            yield ShownLine(end, listed.group(1), int(listed.group(2)))
        elif heading := HEADING.match(row):
            path = heading.group(1)


def _exact_places(rows: Sequence[str]) -> Iterator[ShownLine]:
    path, around, end = "", "", 0
    for row in rows:
        end += len(row) + 1
        if line := EXACT_LINE.match(row):
            yield ShownLine(end, path, int(line.group(1)), around)
        elif symbol := EXACT_SYMBOL.match(row):
            around = symbol.group(1)
        elif row.startswith("  "):
            around = ""
        else:
            path, around = row.split(" (")[0], ""
