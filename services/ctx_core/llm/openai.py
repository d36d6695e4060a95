"""A decoder at a URL with the chat completions API of OpenAI, which most servers have."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from ctx_core.errors import DecoderFailed
from ctx_core.llm.protocol import Generation, messages
from ctx_core.llm.turns import Turns
from ctx_core.settings.serving import LOOPBACK_NAMES

ENDPOINT = "/chat/completions"
TOKENIZE = "/tokenize"  # of llama.cpp's server
GRAMMAR_REFUSALS = (400, 422)
VERSION = "/v1"  # the usual path of the API, unless the URL has one
CONNECT_SECONDS = 5.0  # a server that is up takes a connection at once
MAX_REASON_CHARACTERS = 300  # of a server's error: enough to recognise it
# The remedy for a status code.
NEXT_STEPS = {
    400: "check DECODER_MODEL, or raise the context that the server was started with",
    401: "set DECODER_API_KEY to a key that it takes",
    403: "set DECODER_API_KEY to a key that it takes",
    404: "check DECODER_URL and that the server has DECODER_MODEL",
    413: "raise the largest request that the server takes",
    429: "wait, or choose a server with a higher limit",
}


CHARACTERS_PER_TOKEN = 4  # of code and prose, where the server does not count
DATA = "data:"  # of a server-sent event
DONE = "[DONE]"
# Models that think aloud write it before the answer.
_THINKING = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)


@dataclass(frozen=True)
class Endpoint:
    """The server of a decoder, and the fields of its requests beside the usual."""

    url: str
    model: str | None
    key: str | None = None
    runtime: str = "llamacpp"
    takes_grammar: bool = True
    more: Mapping[str, Any] = field(default_factory=dict)


class RemoteDecoder:
    """One HTTP client for all calls; of the streamed texts one is generated at a time."""

    def __init__(self, served: Endpoint, timeout: float) -> None:
        self.name = served.model or urlsplit(served.url).netloc.rpartition("@")[2]
        self.runtime = served.runtime
        self.memory_bytes = 0  # it is the server's
        self._served = served
        self._url = endpoint(served.url)
        self._timeout = timeout
        self._takes_grammar = served.takes_grammar
        self._counts_tokens = served.takes_grammar  # both are llama.cpp's
        self._turns = Turns(self.name)
        headers = {} if served.key is None else {"Authorization": f"Bearer {served.key}"}
        limits = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
        # A proxy of the environment is not for loopback.
        uses_proxy = urlsplit(served.url).hostname not in LOOPBACK_NAMES
        self._http = httpx.AsyncClient(headers=headers, timeout=limits, trust_env=uses_proxy)

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        body = self._body(Generation(prompt, max_tokens, system))
        response = await self._post(self._url, body | {"stream": False})
        return _THINKING.sub("", _answer(response)).strip()

    async def stream(self, request: Generation) -> AsyncGenerator[str, None]:
        async with self._turns.turn():
            with self._explained():
                async with asyncio.timeout(self._timeout):
                    async for text in self._events(request):
                        yield text

    async def count_tokens(self, text: str) -> int:
        """Ask a llama.cpp server; for any other it is an estimate."""
        if self._counts_tokens:
            url = self._url.removesuffix(ENDPOINT).removesuffix(VERSION) + TOKENIZE
            response = await self._post(url, {"content": text})
            tokens = response.json().get("tokens") if response.is_success else None
            if isinstance(tokens, list):
                return len(tokens)
            self._counts_tokens = False
        return len(text) // CHARACTERS_PER_TOKEN

    async def close(self) -> None:
        await self._http.aclose()

    def _body(self, request: Generation) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": messages(request.prompt, request.system),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            **self._served.more,
        }
        if self._served.model is not None:
            body["model"] = self._served.model
        if request.grammar is not None and self._takes_grammar:
            body["grammar"] = request.grammar
        return body

    async def _events(self, request: Generation) -> AsyncGenerator[str, None]:
        """Yield the texts of a streamed answer; a server that refuses a grammar is asked without.

        Raises DecoderFailed for an error.
        """
        body = self._body(request) | {"stream": True}
        async with self._http.stream("POST", self._url, json=body) as response:
            if response.status_code == httpx.codes.OK:
                async for line in response.aiter_lines():
                    if (text := _event_text(line)) is not None:
                        yield text
                return
            await response.aread()
        if "grammar" not in body or response.status_code not in GRAMMAR_REFUSALS:
            _answer(response)  # raises
        self._takes_grammar = False
        async for text in self._events(request):
            yield text

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the connection into DecoderFailed, with a remedy."""
        try:
            yield
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout) as error:
            raise DecoderFailed(
                f"The decoder at {self._url} did not answer within {self._timeout:g} s: raise "
                "DECODER_TIMEOUT_SECONDS, or choose a smaller model"
            ) from error
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise DecoderFailed(
                f"The decoder at {self._url} cannot be reached ({reason}): start it, or correct "
                "DECODER_URL"
            ) from error

    async def _post(self, url: str, body: dict[str, Any]) -> httpx.Response:
        """Post a request. Raises DecoderFailed after the timeout, also for a slow response body."""
        with self._explained():
            async with asyncio.timeout(self._timeout):
                return await self._http.post(url, json=body)


def endpoint(url: str) -> str:
    """Return the URL of the chat completions: under /v1 where the URL has no path of its own."""
    base = url.rstrip("/")
    if base.endswith(ENDPOINT):
        return base
    return base + ENDPOINT if urlsplit(base).path else base + VERSION + ENDPOINT


def _answer(response: httpx.Response) -> str:
    if response.status_code != httpx.codes.OK:
        step = NEXT_STEPS.get(response.status_code, "look into the server's log")
        raise DecoderFailed(
            f"The decoder at {response.url} answered {response.status_code} "
            f"({_reason(response)}): {step}"
        )
    try:
        content = response.json()["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable(response) from error
    if not isinstance(content, str):
        raise _unreadable(response)
    return content


def _event_text(line: str) -> str | None:
    """Return the text of one event of a streamed answer; None for any other line."""
    data = line.removeprefix(DATA).strip()
    if not line.startswith(DATA) or data == DONE:
        return None
    try:
        text = json.loads(data)["choices"][0]["delta"].get("content")
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return text if isinstance(text, str) else None


def _unreadable(response: httpx.Response) -> DecoderFailed:
    return DecoderFailed(
        f"The decoder at {response.url} answered something else than a chat completion "
        f"({_reason(response)}): check that DECODER_URL names an OpenAI-compatible server"
    )


def _reason(response: httpx.Response) -> str:
    return " ".join(response.text.split())[:MAX_REASON_CHARACTERS] or "an empty body"
