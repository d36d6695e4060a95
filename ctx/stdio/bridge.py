"""Carries the MCP messages of a client on standard input and output to a server over HTTP.

It imports no MCP library, so that it answers as soon as the server does.
"""

import base64
import http.client
import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO
from urllib.parse import urlsplit

Message = dict[str, Any]

MAX_CALLS = 16  # that a client waits for at the same time
INITIALIZE = "initialize"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"  # of a request without a session
SESSION_HEADER, VERSION_HEADER = "Mcp-Session-Id", "MCP-Protocol-Version"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
SERVER_GONE = -32000  # JSON-RPC leaves these numbers to servers
_SAFE = re.compile(r"[!-~](?:[ -~]*[!-~])?")


class Bridge:
    """One client's way to one server; each request has a connection of its own."""

    def __init__(self, url: str, credentials: Mapping[str, str], output: BinaryIO) -> None:
        self._address = urlsplit(url)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **credentials,
        }
        self._output = output
        self._writing = threading.Lock()
        self._session: dict[str, str] = {}

    def run(self, lines: Iterator[bytes]) -> None:
        """Carry messages until the input ends and every request is answered. Blocks."""
        with ThreadPoolExecutor(MAX_CALLS, "call") as calls:
            for line in lines:
                message = _decoded(line)
                if message is None:
                    continue
                if message.get("method") == INITIALIZE or "id" not in message:
                    self._exchange(message)  # what follows rests on it
                else:
                    calls.submit(self._exchange, message)
        self._end_session()

    def _exchange(self, message: Message) -> None:
        """Send a message and write what the server answers; an error where there is no answer."""
        answered = False
        try:
            for answer in self._post(message):
                answered = answered or answer.get("id") == message.get("id")
                self._note_version(message, answer)
                self._write(answer)
            problem = "the server did not answer"
        except (OSError, http.client.HTTPException) as error:
            problem = f"the server does not answer ({error}); ctx up starts it"
        if not answered and "id" in message and "method" in message:
            self._write(_refusal(message, problem))

    def _post(self, message: Message) -> Iterator[Message]:
        connection = self._connect()
        try:
            headers = {**self._headers, **self._session, **_routing(message)}
            connection.request("POST", self._address.path, json.dumps(message), headers)
            response = connection.getresponse()
            if session := response.getheader(SESSION_HEADER):
                self._session[SESSION_HEADER] = session
            yield from _messages(response)
        finally:
            connection.close()

    def _note_version(self, message: Message, answer: Mapping[str, Any]) -> None:
        """Remember the protocol that a handshake agreed on."""
        result = answer.get("result")
        if message.get("method") == INITIALIZE and isinstance(result, dict):
            self._session[VERSION_HEADER] = str(result.get("protocolVersion", ""))

    def _end_session(self) -> None:
        if SESSION_HEADER not in self._session:
            return
        connection = self._connect()
        try:
            headers = {**self._headers, **self._session}
            connection.request("DELETE", self._address.path, headers=headers)
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass  # the server has gone before us
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._address.hostname or "", self._address.port)

    def _write(self, message: Mapping[str, Any]) -> None:
        with self._writing:
            self._output.write(json.dumps(message).encode() + b"\n")
            self._output.flush()


def _decoded(line: bytes) -> Message | None:
    try:
        message = json.loads(line)
    except ValueError:
        if line.strip():
            sys.stderr.write("ctx: a line of the client is no JSON; it was ignored\n")
        return None
    return message if isinstance(message, dict) else None


def _routing(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that the protocol without sessions wants to see beside the body."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if not version:
        return {}
    method = str(message.get("method", ""))
    headers = {VERSION_HEADER: str(version), "Mcp-Method": method}
    if method in NAMED_BY:
        headers["Mcp-Name"] = _header_value(str(params.get(NAMED_BY[method], "")))
    return headers


def _header_value(value: str) -> str:
    if _SAFE.fullmatch(value) and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def _messages(response: http.client.HTTPResponse) -> Iterator[Message]:
    """Yield the messages of an answer: a stream of events, one JSON body, or none."""
    if response.getheader("Content-Type", "").startswith("text/event-stream"):
        for line in response:
            if line.startswith(b"data:") and (text := line[5:].strip()):
                yield json.loads(text)
        return
    body = response.read().strip()
    decoded = _decoded(body) if body else None
    if decoded is not None and "jsonrpc" in decoded:
        yield decoded
    elif response.status >= http.client.BAD_REQUEST:
        raise http.client.HTTPException(f"HTTP {response.status}: {body[:200].decode()}")


def _refusal(message: Mapping[str, Any], problem: str) -> Message:
    error = {"code": SERVER_GONE, "message": f"ctx: {problem}"}
    return {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
