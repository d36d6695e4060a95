"""`context_answer` and `expand_query` with decoders: bound, checked, late, busy and gone ones."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from tests.contract.engine.code.conftest import Engine, open_client
from tests.support.gguf import NAME, needs_llama
from tests.support.llama_server import llama_server
from tests.support.obedient_server import ObedientServer, obedient_server
from tests.support.processes import environment

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How long is the delay between retried calls?"
TRUE = (
    "The delay is exponential backoff with jitter, so that clients do not come back in lockstep [1]"
)
KEY = "sk-very-secret"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ObedientServer]:
    async with obedient_server() as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def decoded(
    workspace: Path, model: ObedientServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    settings = _settings(
        workspace,
        tmp_path_factory.mktemp("data"),
        DECODER_URL=model.url,
        DECODER_API_KEY=KEY,
        DECODER_TIMEOUT_SECONDS=2,
    )
    async with open_client(settings) as opened:
        yield opened


def _settings(workspace: Path, data_dir: Path, **more: Any) -> Settings:
    return Settings(data_dir=data_dir, workspace=workspace, **more)


async def test_supported_sentences_are_the_answer(decoded: Engine, model: ObedientServer) -> None:
    model.answer = f"{TRUE}\nThe delay is read from clock_source.yaml at every attempt [1]\n"
    body = await decoded.call("context_answer", query=QUESTION)
    assert body["answer"].startswith("The delay is exponential backoff with jitter")
    assert (body["decoder_used"], body["dropped_sentences"]) == ("llamacpp", 1)
    [cited] = body["citations"]
    assert (cited["id"], cited["path"]) == (1, "src/net/retry.py")
    assert "degraded" not in body
    sent = model.bodies[-1]
    assert 'number ::= "1"' in sent["grammar"]
    assert sent["temperature"] == 0.3


async def test_a_citation_that_does_not_exist_is_dropped(
    decoded: Engine, model: ObedientServer
) -> None:
    model.answer = TRUE.replace("[1]", "[77]")
    body = await decoded.call("context_answer", query=QUESTION)
    assert body["decoder_used"] == "extractive"
    assert body["degraded"] == ["decoder: no sentence was supported by its source (1 dropped)"]
    assert "[77]" not in body["answer"]
    assert body["citations"]


async def test_a_server_without_grammars_is_asked_without(
    decoded: Engine, model: ObedientServer
) -> None:
    model.answer, model.takes_grammar = TRUE, False
    body = await decoded.call("context_answer", query=QUESTION)
    model.takes_grammar = True
    assert body["decoder_used"] == "llamacpp"
    assert "grammar" not in model.bodies[-1]


async def test_thoughts_are_no_part_of_the_answer(decoded: Engine, model: ObedientServer) -> None:
    model.answer = f"<think>They ask for the delay. [1]\nHm.</think> {TRUE}"
    body = await decoded.call("context_answer", query=QUESTION)
    assert body["answer"].startswith("The delay is exponential")
    assert "Hm" not in body["answer"]


async def test_what_the_model_does_not_find_is_said(decoded: Engine, model: ObedientServer) -> None:
    model.answer = "Not found in the sources."
    body = await decoded.call("context_answer", query=QUESTION)
    assert (body["answer"], body["citations"]) == ("Not found in the code.", [])
    assert body["decoder_used"] == "llamacpp"


async def test_the_deadline_holds_under_load(decoded: Engine, model: ObedientServer) -> None:
    model.answer, model.seconds = TRUE, 30.0
    loop = asyncio.get_running_loop()
    started = loop.time()
    calls = [decoded.call("context_answer", query=QUESTION) for _ in range(16)]
    bodies = await asyncio.gather(*calls)
    model.seconds = 0.0
    assert loop.time() - started < 15
    assert {body["decoder_used"] for body in bodies} == {"extractive"}
    reasons = " ".join(reason for body in bodies for reason in body["degraded"])
    assert "did not" in reasons
    assert "texts wait for it" in reasons


async def test_all_texts_of_a_call_share_its_deadline(
    decoded: Engine, model: ObedientServer
) -> None:
    model.answer, model.seconds = TRUE, 30.0
    loop = asyncio.get_running_loop()
    started = loop.time()
    queries = [f"{QUESTION} ({number})" for number in range(8)]
    body = await decoded.call("context_answer", query=queries, mode="pack", expand=True)
    model.seconds = 0.0
    assert loop.time() - started < 12, "2 s, and the searches; 32 s where each text has its own"
    assert len(body["answers_by_query"]) == 8
    assert body["decoder_used"] == "extractive"
    late = f"{urlsplit(model.url).netloc} did not finish within 2 s"
    assert body["degraded"] == [f"expand: {late}", f"decoder: {late}"]


async def test_a_client_that_goes_away_ends_the_generation(
    decoded: Engine, model: ObedientServer
) -> None:
    model.answer, before = "word " * 5_000, model.unfinished
    call = asyncio.create_task(decoded.call("context_answer", query=QUESTION))
    while model.unfinished == before:  # noqa: ASYNC110 - the server has no event
        await asyncio.sleep(0.02)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    model.answer = TRUE
    body = await decoded.call("context_answer", query=QUESTION)
    assert body["decoder_used"] == "llamacpp", "the turn of the cancelled call is free"


async def test_keys_are_sent_and_never_logged(
    decoded: Engine, model: ObedientServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model.answer = TRUE
    body = await decoded.call("context_answer", query=QUESTION)
    assert model.headers[-1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text + str(body)


async def test_expanded_queries(decoded: Engine, model: ObedientServer) -> None:
    model.answer = 'Sure! ["backoff between attempts", "jitter of the retry policy"]'
    body = await decoded.call("expand_query", query="retry delay")
    assert body == {
        "ok": True,
        "original_query": "retry delay",
        "alternates": ["backoff between attempts", "jitter of the retry policy"],
        "total_queries": 3,
        "decoder_used": "llamacpp",
    }
    one = await decoded.call("expand_query", query=["retry", "delay"], max_new=1)
    assert (len(one["alternates"]), one["total_queries"]) == (1, 3)
    model.answer = "I cannot."
    fallback = await decoded.call("expand_query", query="retry delay")
    assert fallback["decoder_used"] == "fallback"
    assert fallback["alternates"] == ["retry delay implementation", "retry delay definition"]
    assert not (await decoded.call("expand_query", query=" "))["ok"]


@pytest.mark.parametrize("runtime", ["glm", "minimax"])
async def test_the_runtimes_of_the_contract(
    runtime: str, workspace: Path, model: ObedientServer, tmp_path: Path
) -> None:
    own = runtime.upper()
    settings = _settings(
        workspace,
        tmp_path / "data",
        REFRAG_RUNTIME=runtime,
        **{f"{own}_API_BASE": f"{model.url}/v1", f"{own}_API_KEY": KEY, f"{own}_MODEL": "m-1"},
    )
    model.answer = TRUE
    async with open_client(settings) as opened:
        body = await opened.call("context_answer", query=QUESTION)
    assert body["decoder_used"] == runtime
    sent = model.bodies[-1]
    assert sent["model"] == "m-1"
    assert "grammar" not in sent
    assert ("thinking" in sent) is (runtime == "glm")


async def test_a_decoder_that_is_switched_off(
    workspace: Path, model: ObedientServer, tmp_path: Path
) -> None:
    settings = _settings(workspace, tmp_path / "data", DECODER_URL=model.url, REFRAG_DECODER="0")
    async with open_client(settings) as opened:
        body = await opened.call("context_answer", query=QUESTION)
    assert body["decoder_used"] == "extractive"
    assert "degraded" not in body


async def test_a_model_that_is_not_there_is_said(workspace: Path, tmp_path: Path) -> None:
    settings = _settings(workspace, tmp_path / "data", DECODER_MODEL="/nowhere/model.gguf")
    async with open_client(settings) as opened:
        body = await opened.call("context_answer", query=QUESTION)
    assert body["decoder_used"] == "extractive"
    [reason] = body["degraded"]
    assert "/nowhere/model.gguf" in reason


@needs_llama
@pytest.mark.timeout(300)
async def test_a_real_model_in_this_process(workspace: Path, tmp_path: Path) -> None:
    settings = _settings(
        workspace, tmp_path / "data", DECODER_MODEL=NAME, DECODER_CONTEXT_TOKENS=2048
    )
    async with open_client(settings) as opened:
        body = await opened.call(
            "context_answer", query=QUESTION, budget_tokens=300, max_tokens=64, temperature=0
        )
        expanded = await opened.call("expand_query", query=QUESTION)
    _assert_holds(body, workspace)
    assert expanded["decoder_used"] in ("llamacpp", "fallback")
    assert len(expanded["alternates"]) <= 2


@needs_llama
@pytest.mark.timeout(300)
async def test_a_real_server(workspace: Path, tmp_path: Path) -> None:
    port = int(environment(tmp_path / "ports")["CTX_INDEXER_HTTP_PORT"])
    with llama_server(port) as url:
        settings = _settings(workspace, tmp_path / "data", DECODER_URL=url)
        async with open_client(settings) as opened:
            body = await opened.call(
                "context_answer", query=QUESTION, budget_tokens=300, max_tokens=64, temperature=0
            )
    _assert_holds(body, workspace)


def _assert_holds(body: dict[str, Any], workspace: Path) -> None:
    """Whatever the model wrote, every citation exists."""
    assert body["decoder_used"] in ("llamacpp", "extractive")
    if body["decoder_used"] == "extractive":
        assert "dropped" in body["degraded"][0]
    assert 0 < body["used_context_tokens"] <= 400
    assert body["citations"]
    for each in body["citations"]:
        rows = (workspace / each["path"]).read_text().splitlines()
        assert 1 <= each["start_line"] <= each["end_line"] <= len(rows)
        assert f"[{each['id']}]" in body["answer"]
