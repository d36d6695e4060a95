"""The ASGI applications in front of the MCP library."""

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from ctx_core.serving.http.apps import PortRouter, SingleResponse, ToolsetPath
from ctx_core.serving.toolsets import SCOPE_KEY


class Recorder:
    """An application that keeps the scopes it is called with."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)


async def receive() -> Message:
    return {"type": "http.request"}


class Sent:
    """Keeps the messages of a response."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)


def scope(path: str = "/mcp", port: int = 8002, **more: Any) -> Scope:
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [],
        "server": ("127.0.0.1", port),
        **more,
    }


@pytest.mark.parametrize(
    ("path", "seen", "toolset"),
    [
        ("/mcp", "/mcp", None),
        ("/mcp/x/search", "/mcp", "search"),
        ("/mcp/x/search/", "/mcp", "search"),
        ("/mcp/x/all", "/mcp", "all"),
        ("/elsewhere", "/elsewhere", None),
    ],
)
async def test_a_toolset_in_the_path_is_chosen(path: str, seen: str, toolset: str | None) -> None:
    app = Recorder()
    await ToolsetPath(app, frozenset({"search"}))(scope(path), receive, Sent())
    assert [(s["path"], s.get(SCOPE_KEY)) for s in app.scopes] == [(seen, toolset)]


async def test_an_unknown_toolset_is_a_404_with_an_error_body() -> None:
    app, sent = Recorder(), Sent()
    await ToolsetPath(app, frozenset({"search"}))(scope("/mcp/x/nonsense"), receive, sent)
    start, body = sent.messages
    assert (start["status"], app.scopes) == (404, [])
    assert b'"ok":false' in body["body"]
    assert b'"error_code":"VALIDATION_ERROR"' in body["body"]
    assert b"all, lean, search" in body["body"]


async def test_a_second_start_of_a_response_is_dropped() -> None:
    messages: list[Message] = [
        {"type": "http.response.start", "status": 200},
        {"type": "http.response.body", "body": b"event", "more_body": True},
        {"type": "http.response.start", "status": 500},
        {"type": "http.response.body", "body": b""},
    ]

    async def stopping(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    sent = Sent()
    await SingleResponse(stopping)(scope(), receive, sent)
    assert sent.messages == [*messages[:2], messages[3]]


async def test_a_request_goes_to_the_application_of_its_port() -> None:
    apps = {8002: Recorder(), 18002: Recorder()}
    router = PortRouter(apps)
    await router(scope(port=18002, headers=[(b"host", b"localhost \t")]), receive, Sent())
    assert apps[8002].scopes == []
    assert apps[18002].scopes[0]["headers"] == [(b"host", b"localhost")]
