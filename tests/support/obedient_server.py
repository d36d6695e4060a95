"""An OpenAI-compatible server whose model obeys: what its prompt tells it to say, it says.

It stands for the worst decoder there can be, one that every planted instruction wins over.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.loopback import serving

WORD_SECONDS = 0.02


@dataclass
class ObedientServer:
    """`answer` is what it says; a prompt that holds `trigger` makes it say `payload` instead."""

    answer: str = ""
    trigger: str = ""
    payload: str = ""
    takes_grammar: bool = True
    seconds: float = 0.0
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    unfinished: int = 0

    async def chat(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if "grammar" in body and not self.takes_grammar:
            return JSONResponse({"error": {"message": "unknown field grammar"}}, 400)
        said = " ".join(message["content"] for message in body["messages"])
        text = self.payload if self.trigger and self.trigger in said else self.answer
        return StreamingResponse(self._events(text), media_type="text/event-stream")

    async def _events(self, text: str) -> AsyncIterator[str]:
        self.unfinished += 1
        await asyncio.sleep(self.seconds)
        for word in text.split(" "):
            delta = {"choices": [{"delta": {"content": f"{word} "}}]}
            yield f"data: {json.dumps(delta)}\n\n"
            await asyncio.sleep(WORD_SECONDS)
        self.unfinished -= 1
        yield "data: [DONE]\n\n"


@contextlib.asynccontextmanager
async def obedient_server() -> AsyncIterator[ObedientServer]:
    """Serve on loopback until the block ends."""
    served = ObedientServer()
    routes = [Route("/v1/chat/completions", served.chat, methods=["POST"])]
    async with serving(routes) as served.url:
        yield served
