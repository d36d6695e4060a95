"""The limits of a connection, on real sockets."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from ctx_core.serving.http import connection as module
from ctx_core.serving.http.connection import MAX_HEADER_BYTES, LimitedConnection

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
SOON = 5.0  # seconds that a loaded machine may take longer
LARGE_RESPONSE = 64 * 1024 * 1024  # more than sockets buffer


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads the body and answers `done`, or without end for /large."""
    message: Message = {"more_body": True}
    while message.get("more_body") and message.get("type") != "http.disconnect":
        message = await receive()
    body = b"x" * LARGE_RESPONSE if scope["path"] == "/large" else b"done"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server with short deadlines and room for five connections."""
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "WRITE_SECONDS"):
        monkeypatch.setattr(module, name, 0.5)
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 5)
    config = uvicorn.Config(app, http=LimitedConnection, lifespan="off", log_config=None, ws="none")
    config.timeout_keep_alive = 30
    server = uvicorn.Server(config)
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        server.force_exit = True
        thread.join()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=SOON)


def all_of(opened: socket.socket) -> bytes:
    """Everything until the server closes; fails where it does not."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while data := opened.recv(65_536):
            received += data
    return received


def ask(port: int, request: bytes) -> bytes:
    with connect(port) as opened, contextlib.suppress(ConnectionError):
        opened.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received or (b"200" in received and b"done" not in received):
            received += opened.recv(65_536)
    return received


def test_a_request_is_answered(port: int) -> None:
    assert ask(port, GET + b"\r\n").endswith(b"done")


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET / HT", GET, GET + b"X-Slow: "])
def test_headers_that_do_not_come_close_the_connection(port: int, sent: bytes) -> None:
    with connect(port) as opened:
        opened.sendall(sent)
        assert all_of(opened).startswith(b"HTTP/1.1 408")


def test_headers_that_drip_close_the_connection(port: int) -> None:
    with connect(port) as opened:
        opened.sendall(GET)
        ends = time.monotonic() + SOON
        with pytest.raises(ConnectionError):
            while time.monotonic() < ends:
                opened.sendall(b"X: y\r\n")
                time.sleep(0.05)


def test_a_blank_line_does_not_keep_a_connection_for_ever(port: int) -> None:
    with connect(port) as opened:
        opened.sendall(GET + b"\r\n")
        assert opened.recv(65_536)
        opened.sendall(b"\r\n")
        assert all_of(opened).startswith(b"HTTP/1.1 408")


def test_a_body_that_does_not_come_closes_the_connection(port: int) -> None:
    with connect(port) as opened:
        opened.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
        assert all_of(opened) == b""


def test_a_response_that_is_not_read_closes_the_connection(port: int) -> None:
    with connect(port) as opened:
        opened.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(2.0)
        assert len(all_of(opened)) < LARGE_RESPONSE


@pytest.mark.parametrize(
    "headers",
    [
        b"X-Long: " + b"x" * MAX_HEADER_BYTES,
        b"X: y\r\n" * MAX_HEADER_BYTES,
        b"Y" * MAX_HEADER_BYTES + b": z",
    ],
)
def test_large_headers_are_refused(port: int, headers: bytes) -> None:
    assert ask(port, GET + headers + b"\r\n\r\n").startswith(b"HTTP/1.1 431")


def test_headers_without_an_end_are_refused(port: int) -> None:
    with connect(port) as opened:
        opened.sendall(GET + b"X-Long: ")
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                opened.sendall(b"x" * 8_192)
        # The refusal may be lost with what was still under way, the end of the connection not.
        assert all_of(opened) in (b"", module._refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))


def test_a_large_body_behind_the_headers_is_no_header(port: int) -> None:
    body = b"x" * 2 * MAX_HEADER_BYTES
    length = f"Content-Length: {len(body)}\r\n\r\n".encode()
    assert ask(port, b"POST / HTTP/1.1\r\nHost: x\r\n" + length + body).endswith(b"done")


def test_of_too_many_connections_the_longest_idle_one_makes_room(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEADER_SECONDS", 60.0)
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connect(port)) for _ in range(5)]
        assert ask(port, GET + b"\r\n").endswith(b"done")
        assert all_of(idle[0]) == b""
