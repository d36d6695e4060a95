"""One HTTP connection with limits: on its headers, on how long a client may keep it waiting, and on
how many there are."""

import asyncio
import logging
from http import HTTPStatus
from itertools import count
from typing import Any

from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

log = logging.getLogger(__name__)

MAX_HEADER_BYTES = 32_768  # with the request line; browsers and proxies send a few thousand
HEADER_SECONDS = 10.0  # from the first byte, or from the connection, to the end of the headers
BODY_SECONDS = 120.0  # for a whole body: 4 MB over a line of 300 kbit/s
WRITE_SECONDS = 60.0  # without a byte of the response being read
# Below the 1,024 files that a process may usually have open, of which storage needs a few hundred.
MAX_CONNECTIONS = 500

_turns = count()
_TOO_LARGE = PlainTextResponse(
    f"Headers have more than {MAX_HEADER_BYTES} bytes",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    headers={"Connection": "close"},
)


def _refusal(status: HTTPStatus) -> bytes:
    line = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
    return f"{line}content-length: 0\r\nconnection: close\r\n\r\n".encode()


class LimitedConnection(HttpToolsProtocol):
    """Closes a connection whose client is too slow or sends too much before its request begins.

    Where too many are open, the one that has waited longest without a request is closed: `turn`
    rises with every connection and response.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._in_headers = True
        self._header_bytes = self._unparsed_bytes = 0
        self.turn = next(_turns)
        self._wait(HEADER_SECONDS)
        if len(self.connections) > MAX_CONNECTIONS:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being served."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        if self._timer is None and self.is_idle:  # blank lines begin no message
            self._wait(HEADER_SECONDS)
        super().data_received(data)
        if self._in_headers:
            self._unparsed_bytes += len(data)
            if self._unparsed_bytes > MAX_HEADER_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = self._unparsed_bytes = 0
        self._wait(HEADER_SECONDS)

    def on_url(self, url: bytes) -> None:
        self._header_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._wait(BODY_SECONDS)
        served: Any = self.app
        if self._header_bytes > MAX_HEADER_BYTES:
            self.app = _TOO_LARGE
        try:
            super().on_headers_complete()
        finally:
            self.app = served

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.turn = next(_turns)
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._expire)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        if self.flow.read_paused:  # it is we who do not read
            self._wait(BODY_SECONDS)
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer where no other answer is under way, and close."""
        if self.transport.is_closing():
            return
        if self.is_idle:
            self.transport.write(_refusal(status))
            self.transport.close()
        else:
            self.transport.abort()

    def _make_room(self) -> None:
        """Close the connection that has waited longest for its next request; else this one."""
        waiting = [each for each in self.connections if isinstance(each, LimitedConnection)]
        idle = [each for each in waiting if each.is_idle and each is not self]
        longest = min(idle, key=lambda each: each.turn, default=self)
        log.warning("closed a connection: more than %d are open", MAX_CONNECTIONS)
        longest.transport.abort()
