"""Conversations of real processes: crashes, many clients, guards, long contexts."""

import contextlib
import sqlite3
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.conversations import Rest
from tests.support.processes import environment, run_ctx, running

MEMORY = ("-m", "ctx_memory")
CLIENTS = 16
ROUNDS = 2  # each ends in a crash
MESSAGES_EACH = 10
LONG = 800  # scripts/bench/memory/conversations.py measures ten thousand
MAX_ADD_MS, MAX_RETRIEVE_MS = 160.0, 200.0  # four times what an idle machine may take


Connect = Callable[..., Rest]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Open REST clients, closed when the test ends."""
    with contextlib.ExitStack() as stack:

        def opened(url: str, **headers: str) -> Rest:
            rest = Rest(url, **headers)
            stack.callback(rest.client.close)
            return rest

        yield opened


def test_ctx_up_serves_rest_and_a_crash_loses_nothing(tmp_path: Path, connect: Connect) -> None:
    env = environment(tmp_path / "data", MESSAGE_LIMIT_THRESHOLD="3")
    with running(env) as server:
        rest = connect(server.rest)
        rest.add("src/a.py", "one", "two", "three", tags=["t"])
        rest.wait_for("retrieve", lambda body: body["summary"] is not None, contextId="src/a.py")
        rest.act("add_relationship", contextId="p", targetId="src/a.py", relationshipType="parent")
        rest.act("find_path", contextId="p", targetId="src/a.py")
        rest.add("src/a.py", "four")
        server.kill()
    with running(*by_argument(env, "-m", "ctx", "up", "--json")) as server:
        rest = connect(f"http://127.0.0.1:{env['PORT']}")
        found = rest.act("retrieve", contextId="src/a.py")
        assert [each["content"] for each in found["messages"]] == ["one", "two", "three", "four"]
        assert found["summary"]["messageCount"] == 3
        assert found["summary"]["relatedContexts"] == ["p"]
        assert rest.get("/contexts")["contextIds"] == ["src/a.py"]
        metrics = httpx.get(f"{server.memory_health}/metrics").text
        assert 'ctx_conversation_calls_graph_db_search{service="memory"} 1.0' in metrics
        assert 'ctx_conversation_calls_graph_db_add{service="memory"} ' in metrics


def by_argument(env: dict[str, str], *command: str) -> tuple[Any, ...]:
    """A command that is told the port of REST by an argument, not by the environment."""
    return ({**env, "PORT": ""}, *command, "--port", env["PORT"])


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings that choose each database."""
    if request.param == "sqlite":
        return {}
    return {"DATABASE_URL": request.getfixturevalue("postgres_url")}


def test_a_crash_at_any_point_keeps_what_was_acknowledged(
    tmp_path: Path, connect: Connect, database: dict[str, str]
) -> None:
    env = environment(tmp_path / "data", MESSAGE_LIMIT_THRESHOLD="2", **database)
    acknowledged: list[str] = []
    for round_ in range(ROUNDS):
        with running(env, *MEMORY) as server:
            rest = connect(server.rest)

            def add(rest: Rest = rest, round_: int = round_) -> None:
                for number in range(1000):
                    text = f"round {round_} message {number}"
                    try:
                        rest.add("c", text)
                    except httpx.HTTPError:
                        return
                    acknowledged.append(text)

            writer = threading.Thread(target=add)
            writer.start()
            time.sleep(0.7)
            server.kill()
            writer.join()
    with running(env, *MEMORY) as server:
        rest = connect(server.rest)
        contents = _all(rest, "c")
        assert acknowledged
        assert [each for each in contents if each in set(acknowledged)] == acknowledged
        assert len(contents) <= len(acknowledged) + ROUNDS, "at most one unacknowledged a crash"
        summary = rest.act("summarize", contextId="c")["summary"]
        assert summary["messageCount"] == len(contents)


def _all(rest: Rest, context: str) -> list[str]:
    """Read every page."""
    contents: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = rest.act("retrieve", contextId=context, limit=200, **cursor)
        contents = [each["content"] for each in page["messages"]] + contents
        if "nextCursor" not in page:
            return contents
        cursor = {"cursor": page["nextCursor"]}


def test_many_clients_of_one_context_lose_nothing(
    tmp_path: Path, database: dict[str, str], connect: Connect
) -> None:
    env = environment(tmp_path / "data", **database)
    with running(env, *MEMORY) as server:

        def add(client: int) -> None:
            rest = connect(server.rest)
            rest.add("shared", *(f"client {client} message {n}" for n in range(MESSAGES_EACH)))

        threads = [threading.Thread(target=add, args=(client,)) for client in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        contents = _all(connect(server.rest), "shared")
        assert len(contents) == CLIENTS * MESSAGES_EACH
        for client in range(CLIENTS):
            own = [each for each in contents if each.startswith(f"client {client} ")]
            assert own == [f"client {client} message {n}" for n in range(MESSAGES_EACH)]
        summary = connect(server.rest).act("summarize", contextId="shared")["summary"]
        assert summary["messageCount"] == CLIENTS * MESSAGES_EACH


def test_tokens_rate_limit_and_read_only(tmp_path: Path, connect: Connect) -> None:
    limits = {"CTX_AUTH_TOKENS": "s3cret", "CTX_RATE_LIMIT_PER_MINUTE": "60"}
    env = environment(tmp_path / "data", CTX_READ_ONLY="true", **limits)
    with running(env, *MEMORY) as server:
        refused = httpx.get(f"{server.rest}/contexts")
        assert refused.status_code == 401
        assert refused.json()["success"] is False
        assert refused.headers["www-authenticate"] == "Bearer"
        rest = connect(server.rest, Authorization="Bearer s3cret")
        add = {"action": "add", "contextId": "x", "role": "user", "content": "y"}
        response = rest.client.post("/tools/context_memory", json=add)
        assert response.status_code == 403
        assert "CTX_READ_ONLY" in response.json()["message"]
        assert rest.act("retrieve", contextId="x")["messages"] == []
        statuses = [rest.client.get("/contexts").status_code for _ in range(20)]
        assert statuses[0] == 200
        limited = rest.client.get("/contexts")
        assert limited.status_code == 429
        assert limited.json()["success"] is False
        assert int(limited.headers["retry-after"]) >= 1


def test_rest_can_be_off_and_wrong_options_stop_the_start(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", CTX_CONVERSATIONS_REST="false")
    with running(env, *MEMORY) as server, pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.rest}/")
    done = run_ctx(environment(tmp_path / "other"), "up", "--config", '{"useGraphDb": "perhaps"}')
    assert done.returncode == 2
    assert "USE_GRAPH_DB=perhaps" in done.stderr
    overruled = environment(tmp_path / "other", USE_GRAPH_DB="true")
    assert run_ctx(overruled, "up", "--config", '{"useGraphDb": "perhaps"}').returncode == 2


def test_a_failure_of_the_server_is_json_without_its_reason(
    tmp_path: Path, connect: Connect
) -> None:
    env = environment(tmp_path / "data")
    with running(*by_argument(env, *MEMORY)):
        rest = connect(f"http://127.0.0.1:{env['PORT']}")
        rest.add("c", "one")
        with contextlib.closing(sqlite3.connect(tmp_path / "data" / "records.sqlite")) as records:
            records.execute("DROP TABLE conversation_summaries")
            records.commit()
        add = {"action": "retrieve", "contextId": "c"}
        failed = rest.client.post("/tools/context_memory", json=add)
        assert failed.status_code == 500
        assert failed.headers["content-type"] == "application/json"
        assert failed.json()["success"] is False
        assert failed.json()["message"].startswith("Error processing request: ")
        assert "conversation_summaries" not in failed.text
        assert str(tmp_path) not in failed.text


@pytest.mark.slow
def test_a_long_context_stays_quick(tmp_path: Path, connect: Connect) -> None:
    """The medians hold also where other tests run beside this one."""
    with running(environment(tmp_path / "data"), *MEMORY) as server:
        rest = connect(server.rest)
        texts = [f"Message {n}: the importer of tenant {n % 7} read {n} rows." for n in range(LONG)]
        adds = [_milliseconds(lambda text=text: rest.add("long", text)) for text in texts]
        reads = [_milliseconds(lambda: rest.act("retrieve", contextId="long")) for _ in range(100)]
        figures = {"add": statistics.median(adds), "retrieve": statistics.median(reads)}
        print(figures)
        assert _all(rest, "long") == texts
        summary = rest.act("summarize", contextId="long")["summary"]
        assert summary["messageCount"] == LONG
        assert len(summary["summary"]) < 2_000
        assert figures["add"] < MAX_ADD_MS, figures
        assert figures["retrieve"] < MAX_RETRIEVE_MS, figures


def _milliseconds(call: Any) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
