"""The decoder at a URL, with a real server of the wire format."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import AnyHttpUrl, SecretStr
from starlette.requests import Request
from starlette.responses import (
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from ctx_core.errors import DecoderFailed
from ctx_core.llm.factory import open_decoder
from ctx_core.llm.openai import Endpoint, RemoteDecoder, endpoint
from ctx_core.settings import Settings
from tests.support.loopback import serving

KEY = "sk-secret-key"


class ChatServer:
    """Answers chat completions; the name of the model decides how."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append((request.url.path, dict(request.headers), body))
        match body.get("model"):
            case "slow":
                await asyncio.sleep(30)
            case "unauthorised":
                return JSONResponse({"error": {"message": "bad key"}}, 401)
            case "unknown":
                return JSONResponse({"error": {"message": "no such model"}}, 404)
            case "broken":
                return PlainTextResponse("Traceback: something\nbroke", 500)
            case "html":
                return PlainTextResponse("<html>welcome</html>")
            case "empty":
                return JSONResponse({"choices": []})
            case "null":
                return JSONResponse({"choices": [{"message": {"content": None}}]})
            case "list":
                return JSONResponse([1, 2])
            case "trickle":
                return StreamingResponse(_drops())
            case "moved":
                return RedirectResponse("/elsewhere", 307)
        said = body["messages"][-1]["content"]
        message = {"role": "assistant", "content": f"you said {said}"}
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": body.get("model", "only"),
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6},
            }
        )


async def _drops() -> AsyncIterator[bytes]:
    for _ in range(600):
        yield b" "
        await asyncio.sleep(0.05)


@pytest.fixture
async def chat() -> AsyncIterator[ChatServer]:
    served = ChatServer()
    routes = [
        Route(path, served.answer, methods=["POST"])
        for path in ("/v1/chat/completions", "/api/chat/completions", "/elsewhere")
    ]
    async with serving(routes) as served.url:
        yield served


@contextlib.asynccontextmanager
async def decoder(
    url: str, model: str | None = None, key: str | None = None, seconds: float = 10
) -> AsyncIterator[RemoteDecoder]:
    opened = RemoteDecoder(Endpoint(url, model, key), seconds)
    yield opened
    await opened.close()


async def test_it_sends_the_conversation_and_returns_the_answer(chat: ChatServer) -> None:
    async with decoder(chat.url, "qwen", KEY) as opened:
        assert await opened.complete("hello", 77, system="Be brief.") == "you said hello"
        assert opened.name == "qwen"
    [(path, headers, body)] = chat.requests
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "qwen",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hello"},
        ],
        "max_tokens": 77,
        "temperature": 0,
        "stream": False,
    }


async def test_key_model_and_system_may_be_left_out(chat: ChatServer) -> None:
    async with decoder(chat.url) as opened:
        assert await opened.complete("hi ☃", 5) == "you said hi ☃"
        assert opened.name == chat.url.removeprefix("http://")
    [(_, headers, body)] = chat.requests
    assert "authorization" not in headers
    assert "model" not in body
    assert [message["role"] for message in body["messages"]] == ["user"]


async def test_calls_run_at_the_same_time(chat: ChatServer) -> None:
    async with decoder(chat.url) as opened:
        answers = await asyncio.gather(*(opened.complete(str(n), 5) for n in range(20)))
    assert answers == [f"you said {n}" for n in range(20)]


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/api/", "http://h:1/api/chat/completions"),
        ("http://h:1/x/chat/completions", "http://h:1/x/chat/completions"),
    ],
)
def test_the_url_of_the_chat_completions(url: str, where: str) -> None:
    assert endpoint(url) == where


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("unauthorised", ["401", "bad key", "DECODER_API_KEY"]),
        ("unknown", ["404", "no such model", "DECODER_MODEL"]),
        ("broken", ["500", "Traceback: something broke", "log"]),
        ("html", ["welcome", "DECODER_URL"]),
        ("empty", ["choices", "DECODER_URL"]),
        ("null", ["DECODER_URL"]),
        ("list", ["[1,2]", "DECODER_URL"]),
        ("moved", ["307"]),
    ],
)
async def test_a_refusal_names_the_next_step(chat: ChatServer, model: str, said: list[str]) -> None:
    async with decoder(chat.url, model, KEY) as opened:
        with pytest.raises(DecoderFailed) as caught:
            await opened.complete("hello", 5)
    for words in said:
        assert words in caught.value.message
    assert KEY not in caught.value.message
    assert len(chat.requests) == 1


async def test_it_waits_no_longer_than_its_timeout(chat: ChatServer) -> None:
    async with decoder(chat.url, "slow", seconds=0.3) as opened:
        with pytest.raises(DecoderFailed, match=r"within 0.3 s: raise DECODER_TIMEOUT_SECONDS"):
            await opened.complete("hello", 5)


async def test_a_slow_response_body_times_out_too(chat: ChatServer) -> None:
    async with decoder(chat.url, "trickle", seconds=0.4) as opened:
        with pytest.raises(DecoderFailed, match="did not answer within"):
            await opened.complete("hello", 5)


async def test_an_unreachable_server_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with decoder(f"http://127.0.0.1:{port}") as opened:
        with pytest.raises(DecoderFailed, match="start it, or correct DECODER_URL"):
            await opened.complete("hello", 5)


async def test_the_settings_choose_the_decoder(chat: ChatServer) -> None:
    async with open_decoder(Settings()) as none:
        assert none is None
    chosen = Settings(
        decoder_url=AnyHttpUrl(f"{chat.url}/api"),
        decoder_model="qwen",
        decoder_api_key=SecretStr(KEY),
    )
    async with open_decoder(chosen) as opened:
        assert opened is not None
        assert await opened.complete("x", 5) == "you said x"
    [(path, headers, body)] = chat.requests
    assert path == "/api/chat/completions"
    assert headers["authorization"].endswith(KEY)
    assert json.dumps(body).count("qwen") == 1
