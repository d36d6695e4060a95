"""One HTTP/1.1 request over asyncio's streams.

The libraries for it take longer to import than most requests take.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LINE_LIMIT = 256 * 1024  # of the stream's buffer; a header line, never a body
PORTS = {"http": 80, "https": 443}


class BadResponse(OSError):
    """What answers does not speak HTTP, or stopped in the middle."""


@dataclass(frozen=True)
class Response:
    """The status and the headers of a response, and its body as it arrives."""

    status: int
    headers: Mapping[str, str]
    _reader: asyncio.StreamReader

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self) -> bytes:
        """Return the whole body. Raises BadResponse where it is cut."""
        return b"".join([part async for part in self.parts()])

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises BadResponse where it is cut."""
        try:
            if self.headers.get("transfer-encoding", "").lower() == "chunked":
                while size := int((await self._reader.readuntil(b"\n")).partition(b";")[0], 16):
                    yield await self._reader.readexactly(size)
                    await self._reader.readuntil(b"\n")
            elif "content-length" in self.headers:
                yield await self._reader.readexactly(int(self.headers["content-length"]))
            else:
                while part := await self._reader.read(LINE_LIMIT):
                    yield part
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
            raise BadResponse("the answer was cut off") from error

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of the body as they arrive, without their ends."""
        rest = b""
        async for part in self.parts():
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                yield line.rstrip(b"\r")
        if rest:
            yield rest


@contextlib.asynccontextmanager
async def send(
    method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
) -> AsyncIterator[Response]:
    """Send a request and yield the response; the connection ends with the block.

    Raises OSError where nobody answers, BadResponse where it is not HTTP.
    """
    parts = urlsplit(url)
    context = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or PORTS[parts.scheme]
    reader, writer = await asyncio.open_connection(
        parts.hostname, port, ssl=context, limit=LINE_LIMIT
    )
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        given = {"Host": parts.netloc.rpartition("@")[2], "Connection": "close", **(headers or {})}
        if body:
            given["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in given.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1") + body)
        await writer.drain()
        yield await _response(reader)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _response(reader: asyncio.StreamReader) -> Response:
    try:
        status = int((await reader.readuntil(b"\n")).split(None, 2)[1])
        headers = {}
        while line := (await reader.readuntil(b"\n")).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise BadResponse("it closed the connection") from error
    except (ValueError, IndexError) as error:
        raise BadResponse("it does not speak HTTP") from error
    return Response(status, headers, reader)
