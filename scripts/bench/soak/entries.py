"""Calls of a memory server: each kind deletes as much as it stores."""

import json
from collections.abc import Mapping
from urllib.parse import quote

from scripts.bench.faults.clerk import WORDS
from scripts.bench.soak.caller import Caller, Kind

KEYS = 12
TEXTS = 500  # distinct ones: caches of words are full soon
NEW_WORDS = 90
CHAT_MESSAGES = 20
JSON = {"Content-Type": "application/json"}


def text(number: int) -> str:
    """Return one of the texts."""
    number %= TEXTS
    some = [WORDS[(number * step + step) % len(WORDS)] for step in range(1, 4 + number % 40)]
    return f"note {number:x} on {' '.join(some)}"


def new_words(number: int) -> str:
    """Return a text of words that no other number has."""
    return " ".join(f"w{number}x{each}" for each in range(NEW_WORDS))


class Entries:
    """The calls, in rounds."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._call = caller.call

    async def memories(self, number: int) -> None:
        stored = await self._call("store", information=text(number), metadata={"topic": "soak"})
        await self._call("find", query=text(number)[:40])
        if id_ := stored.get("id"):
            await self._call("update_memory", memory_id=id_, information=text(number + 1))
            await self._call("delete_memory", memory_ids=id_)

    async def finds(self, number: int) -> None:
        await self._call("find", query=text(number)[:40])

    async def new_words(self, number: int) -> None:
        await self._call("find", query=new_words(number))

    async def threads(self, number: int) -> None:
        given = {"thread_id": f"task-{number}", "source": "agent", "text": text(number)}
        stored = await self._call("store_context", **given)
        id_ = stored.get("context_id")
        for search in ("fts", "semantic", "hybrid"):
            await self._call(f"{search}_search_context", query=text(number)[:40])
        await self._call("search_context", thread_id=f"task-{number}")
        if id_ is not None:
            await self._call("delete_context", context_ids=[id_])

    async def messages(self, number: int) -> None:
        """Messages are never deleted: what they take is data."""
        chat = f"chat-{number // CHAT_MESSAGES}"
        message = {"role": "user", "content": text(number)}
        await self._rest({"action": "add", "contextId": chat, **message})

    async def conversations(self, number: int) -> None:
        chat = "chat-1"
        await self._rest({"action": "retrieve", "contextId": chat})
        similar = f"{self._caller.rest_url}similar?text={quote(text(number)[:40])}"
        await self._caller.request("GET", similar)
        await self._caller.request("GET", f"{self._caller.rest_url}related/unknown-{number}")
        await self._rest({"action": f"unknown-{number}", "contextId": chat})

    async def knowledge(self, number: int) -> None:
        key = f"key-{number % KEYS}"
        await self._call("context_add_knowledge", key=key, content=text(number))
        await self._call("context_get", dotpath=f"knowledge.{key}")
        await self._call("context_search", query=text(number)[:40])
        await self._call("context_remove_knowledge", key=key)

    async def session_defaults(self, number: int) -> None:
        await self._call("set_session_defaults", session=f"unknown-{number}")
        await self._call("list_memories", limit=5)

    async def _rest(self, body: Mapping[str, object]) -> None:
        url = f"{self._caller.rest_url}tools/context_memory"
        await self._caller.request("POST", url, JSON, json.dumps(body).encode())


def entry_kinds(caller: Caller) -> Mapping[str, Kind]:
    """Return the kinds of load by name."""
    kinds = Entries(caller)
    return {
        "memories": kinds.memories,
        "finds": kinds.finds,
        "finds of new words": kinds.new_words,
        "threads": kinds.threads,
        "conversations": kinds.conversations,
        "knowledge": kinds.knowledge,
        "session defaults": kinds.session_defaults,
        "messages": kinds.messages,
    }
