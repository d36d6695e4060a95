"""Measures one long conversation over REST, and many clients that add to one.

    .venv/bin/python -m scripts.bench.memory.conversations --messages 10000

A server of its own is filled message by message, read page by page, and its conversation is
summarised; then 16 clients add to one context at once, and every message must be there, in each
client's order. SQLite, or `--database-url`. Prints one JSON object. Wall times depend on the load
of the machine; CPU times hardly do.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note, percentiles, with_load
from scripts.bench.servers import environment, running
from scripts.bench.usage import cpu_seconds, resident_mb

SERVER = ("-m", "ctx_memory", "--transports", "http")
CLIENTS, MESSAGES_EACH = 16, 50
RETRIEVALS = 200
PAGE = 200
NOTE_EVERY = 1_000


class Contexts:
    """Calls the REST API, as one client over one connection."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=300)

    def act(self, action: str, **arguments: Any) -> dict[str, Any]:
        response = self._client.post(
            "/tools/context_memory", json={"action": action, **arguments}
        ).raise_for_status()
        body: dict[str, Any] = response.json()
        return body

    def add(self, context: str, text: str) -> None:
        self.act("add", contextId=context, role="user", content=text)

    def pages(self, context: str) -> Iterator[list[str]]:
        """Yield the pages of a context, the newest first."""
        cursor: dict[str, Any] = {}
        while True:
            page = self.act("retrieve", contextId=context, limit=PAGE, **cursor)
            yield [message["content"] for message in page["messages"]]
            if "nextCursor" not in page:
                return
            cursor = {"cursor": page["nextCursor"]}


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measure_long(contexts: Contexts, pid: int, messages: int) -> dict[str, Any]:
    """Fill one context, read it in full, summarise it."""
    texts = [f"Message {n}: the importer of tenant {n % 7} read {n} rows." for n in range(messages)]
    before = cpu_seconds(pid)
    adds = []
    for number, text in zip(count(1), texts, strict=False):
        adds.append(timed(lambda text=text: contexts.add("long", text)))  # type: ignore[misc]
        if number % NOTE_EVERY == 0:
            note(f"{number} of {messages} messages added")
    added = cpu_seconds(pid) - before
    reads = [timed(lambda: contexts.act("retrieve", contextId="long")) for _ in range(RETRIEVALS)]
    began = time.perf_counter()
    pages = list(contexts.pages("long"))
    seconds = time.perf_counter() - began
    assert [text for page in reversed(pages) for text in page] == texts, "messages are missing"
    began = time.perf_counter()
    summary = contexts.act("summarize", contextId="long")["summary"]
    return {
        "add": percentiles(adds),
        "add_cpu_ms": round(added / messages * 1000, 2),
        "retrieve": percentiles(reads),
        "pages": len(pages),
        "all_pages_seconds": round(seconds, 2),
        "summarise_seconds": round(time.perf_counter() - began, 2),
        "summarised_messages": summary["messageCount"],
        "summary_characters": len(summary["summary"]),
        "resident": resident_mb(pid),
    }


def measure_clients(url: str) -> dict[str, Any]:
    """Let clients add to one context at once; count what is there."""

    def add(client: int) -> None:
        contexts = Contexts(url)
        for number in range(MESSAGES_EACH):
            contexts.add("shared", f"{client}:{number}")

    threads = [threading.Thread(target=add, args=(client,)) for client in range(CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    stored = [text for page in reversed(list(Contexts(url).pages("shared"))) for text in page]
    in_order = all(
        [text for text in stored if text.startswith(f"{client}:")]
        == [f"{client}:{number}" for number in range(MESSAGES_EACH)]
        for client in range(CLIENTS)
    )
    expected = CLIENTS * MESSAGES_EACH
    return {
        "clients": CLIENTS,
        "messages": expected,
        "lost": expected - len(stored),
        "in_order": in_order,
        "per_second": round(expected / seconds, 1),
    }


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--database-url", help="PostgreSQL instead of SQLite")
    arguments = parser.parse_args()
    settings = {"DATABASE_URL": arguments.database_url} if arguments.database_url else {}
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder), **settings)
        with running(env, *SERVER) as server:
            url = f"http://127.0.0.1:{env['PORT']}"
            figures = measure_long(Contexts(url), server.process.pid, arguments.messages)
            figures["many"] = measure_clients(url)
    print(json.dumps(with_load({"commit": commit(), **figures}), indent=2))
    return 1 if figures["many"]["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
