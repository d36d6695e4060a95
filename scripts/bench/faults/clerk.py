"""A clerk: writes to and searches one memory server, and notes what it acknowledged."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ctx_core.errors import RemoteFailed, StorageFailed
from ctx_core.serving.mcp.client import call_tool
from scripts.bench.faults.ledger import GONE, Claim, Ledger

CALL_SECONDS = 40.0  # longer than a server lets a call take
REST_SECONDS = (0.02, 0.15)  # between two calls
CALM_SECONDS = 0.5  # between two calls while a program starts
AWAY_SECONDS = 0.3  # before the next call to a server that did not answer
MOST_MEMORIES = 60  # kept, so that a comparison stays short
MOST_THREAD_ENTRIES = 40
KEYS = 12
WORDS = "invoice cache retry token queue index backup shard lease replica cursor batch".split()
NO_ANSWER = "no answer"
OK = "ok"


class Clerk:
    """One client of one memory server."""

    def __init__(self, url: str, ledger: Ledger, rng: random.Random) -> None:
        self._url = url
        self._ledger = ledger
        self._rng = rng
        self._acts: Mapping[Callable[[], Awaitable[None]], int] = {
            self._store: 30,
            self._update: 12,
            self._delete: 12,
            self._find: 10,
            self._add_to_thread: 14,
            self._delete_from_thread: 6,
            self._say: 6,
            self._know: 8,
            self._push: 2,
        }

    async def work(self, until: asyncio.Event, calm: asyncio.Event) -> None:
        """Call one tool after the other until told to stop; seldom while it should be calm."""
        while not until.is_set():
            [act] = self._rng.choices(list(self._acts), list(self._acts.values()))
            await act()
            await asyncio.sleep(CALM_SECONDS if calm.is_set() else self._rng.uniform(*REST_SECONDS))

    # --- memories --------------------------------------------------------------------------

    async def _store(self) -> None:
        if len(self._ledger.memories) >= MOST_MEMORIES:
            return await self._delete()
        text = self._text()
        if body := await self._call("store", information=text):
            self._ledger.memories[body["id"]] = Claim(text)
        return None

    async def _update(self) -> None:
        if id_ := self._choose(self._ledger.memories):
            text = self._text()
            given = {"memory_id": id_, "information": text}
            await self._change(id_, self._ledger.memories[id_], text, "update_memory", given)

    async def _delete(self) -> None:
        if id_ := self._choose(self._ledger.memories):
            claim = self._ledger.memories[id_]
            await self._change(id_, claim, GONE, "delete_memory", {"memory_ids": id_})

    async def _find(self) -> None:
        await self._call("find", query=self._rng.choice(WORDS))

    # --- threads, conversations, knowledge ---------------------------------------------------

    async def _add_to_thread(self) -> None:
        if len(self._ledger.threads) >= MOST_THREAD_ENTRIES:
            return await self._delete_from_thread()
        text = self._text()
        given = {"thread_id": f"task-{self._rng.randrange(5)}", "source": "agent", "text": text}
        if body := await self._call("store_context", **given):
            self._ledger.threads[body["context_id"]] = Claim(text)
        return None

    async def _delete_from_thread(self) -> None:
        if id_ := self._choose(self._ledger.threads):
            claim = self._ledger.threads[id_]
            await self._change(id_, claim, GONE, "delete_context", {"context_ids": [id_]})

    async def _say(self) -> None:
        text = self._text()
        chat = f"chat-{self._rng.randrange(5)}"
        if await self._call("add_message", contextId=chat, message=text, role="user"):
            self._ledger.messages.add(text)

    async def _know(self) -> None:
        key = f"key-{self._rng.randrange(KEYS)}"
        if key in self._ledger.busy:
            return
        claim = self._ledger.knowledge.setdefault(key, Claim(GONE))
        text = self._text()
        given = {"key": key, "content": text}
        await self._change(key, claim, text, "context_add_knowledge", given)

    async def _push(self) -> None:
        await self._call("context_sync_push")

    # --- calls -------------------------------------------------------------------------------

    async def _change(
        self, key: object, claim: Claim, text: str | None, tool: str, given: dict[str, Any]
    ) -> None:
        """Make a change of an entry that no other call changes meanwhile."""
        self._ledger.busy.add(key)
        claim.possible.add(text)
        if await self._call(tool, **given):
            claim.accept(text)
        self._ledger.busy.discard(key)

    def _choose(self, claims: Mapping[Any, Claim]) -> Any:
        """Choose an entry that is surely there; None if there is none."""
        free = [
            key
            for key, claim in claims.items()
            if claim.sure is not GONE and not claim.possible and key not in self._ledger.busy
        ]
        return self._rng.choice(free) if free else None

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Return the answer of a tool; None where it failed or none came."""
        try:
            body = await call_tool(self._url, tool, arguments, seconds=CALL_SECONDS)
        except RemoteFailed as error:
            self._note(error.code, f"{tool}: {error}")
            return None
        except StorageFailed:
            self._note(NO_ANSWER)
            await asyncio.sleep(AWAY_SECONDS)
            return None
        self._note("degraded" if "degraded" in body else OK)
        self._ledger.writes += tool not in ("find", "context_sync_push")
        return body

    def _note(self, outcome: str, words: str = "") -> None:
        self._ledger.calls[outcome] += 1
        if outcome == "INTERNAL_ERROR":
            self._ledger.defects.append(words)

    def _text(self) -> str:
        words = self._rng.choices(WORDS, k=self._rng.randrange(4, 60))
        return f"note {self._rng.getrandbits(64):016x} on {' '.join(words)}"
