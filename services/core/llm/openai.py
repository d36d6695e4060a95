"""A decoder at a URL with the chat completions API of OpenAI, which most servers have."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx

from services.core.errors import DecoderFailed
from services.core.llm.protocol import messages
from services.core.settings.serving import LOOPBACK_NAMES

ENDPOINT = "/chat/completions"
VERSION = "/v1"  # the usual path of the API, unless the URL has one
CONNECT_SECONDS = 5.0  # a server that is up takes a connection at once
MAX_REASON_CHARACTERS = 300  # of a server's error: enough to recognise it
# What to do about a status code.
NEXT_STEPS = {
    400: "check DECODER_MODEL, or raise the context that the server was started with",
    401: "set DECODER_API_KEY to a key that it takes",
    403: "set DECODER_API_KEY to a key that it takes",
    404: "check DECODER_URL and that the server has DECODER_MODEL",
    413: "raise the largest request that the server takes",
    429: "wait, or choose a server with a higher limit",
}


class RemoteDecoder:
    """One HTTP client for all calls, which may run at the same time."""

    def __init__(self, url: str, model: str | None, key: str | None, timeout: float) -> None:
        self.name = model or urlsplit(url).netloc.rpartition("@")[2]
        self._url = endpoint(url)
        self._model = model
        self._timeout = timeout
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        limits = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
        # A proxy of the environment is not for loopback.
        uses_proxy = urlsplit(url).hostname not in LOOPBACK_NAMES
        self._http = httpx.AsyncClient(headers=headers, timeout=limits, trust_env=uses_proxy)

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        body: dict[str, Any] = {
            "messages": messages(prompt, system),
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": False,
        }
        if self._model is not None:
            body["model"] = self._model
        return _answer(await self._post(body))

    async def close(self) -> None:
        await self._http.aclose()

    async def _post(self, body: dict[str, Any]) -> httpx.Response:
        """Post a request. Raises DecoderFailed after the timeout, also for a slow response body."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._http.post(self._url, json=body)
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


def _unreadable(response: httpx.Response) -> DecoderFailed:
    return DecoderFailed(
        f"The decoder at {response.url} answered something else than a chat completion "
        f"({_reason(response)}): check that DECODER_URL names an OpenAI-compatible server"
    )


def _reason(response: httpx.Response) -> str:
    return " ".join(response.text.split())[:MAX_REASON_CHARACTERS] or "an empty body"
