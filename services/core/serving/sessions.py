"""The session defaults of `set_session_defaults`, by token and by connection.

They are kept in memory only: after a restart an old token is an error that says so.
"""

from collections import OrderedDict
from dataclasses import dataclass
from secrets import token_hex
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from services.core.errors import InvalidInput
from services.core.serving import caller
from services.core.serving.service import Effect, Tool

MAX_SESSIONS = 10_000  # about 200 bytes each; the least recently used is dropped first
TOKEN_BYTES = 8
MAX_TOKEN_LENGTH = 128
COLLECTION_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,127}$"

SessionToken = Annotated[
    str | None,
    Field(description="Session token from set_session_defaults.", max_length=MAX_TOKEN_LENGTH),
]
CollectionName = Annotated[
    str | None, Field(description="Default collection name.", pattern=COLLECTION_PATTERN)
]


class Defaults(TypedDict, total=False):
    """The values that later calls use where they name none."""

    collection: str


class SessionResult(TypedDict):
    """The result of `set_session_defaults`."""

    ok: bool
    session: str
    defaults: Defaults
    applied: str


@dataclass(frozen=True)
class _Session:
    token: str
    collection: str | None


class SessionDefaults:
    """Keeps the default collection of each session.

    `reserved` is the collection of the other server, which cannot be chosen.
    """

    def __init__(self, reserved: str = "") -> None:
        self._reserved = reserved
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._connections: OrderedDict[str, str] = OrderedDict()

    def set(self, collection: str | None, token: str | None) -> SessionResult:
        """Set the default collection; with a token alone, bind this connection to that session.

        Raises InvalidInput for an unknown token or the reserved collection.
        """
        if collection and collection == self._reserved:
            raise InvalidInput("collection", f"{collection!r} belongs to the other server")
        connection = caller.current.get().connection
        bound = self._connections.get(connection) if connection else None
        if token and not collection:
            session = self._known(token)
        else:
            token = token or bound or token_hex(TOKEN_BYTES)
            known = self._sessions.get(token)
            session = _Session(token, collection or (known.collection if known else None))
        self._remember(session, connection)
        return {
            "ok": True,
            "session": session.token,
            "defaults": {"collection": session.collection} if session.collection else {},
            "applied": "connection" if connection else "session",
        }

    def collection(self, token: str | None) -> str | None:
        """Return the default collection of the token, else of this connection."""
        connection = caller.current.get().connection
        if not token and connection:
            token = self._connections.get(connection)
        return self._known(token).collection if token else None

    def _known(self, token: str) -> _Session:
        if token not in self._sessions:
            raise InvalidInput(
                "session",
                "no such session; sessions end when the server restarts. "
                "Call set_session_defaults with a collection again.",
            )
        self._sessions.move_to_end(token)
        return self._sessions[token]

    def _remember(self, session: _Session, connection: str | None) -> None:
        self._sessions[session.token] = session
        self._sessions.move_to_end(session.token)
        if connection:
            self._connections[connection] = session.token
            self._connections.move_to_end(connection)
        while len(self._sessions) > MAX_SESSIONS:
            forgotten, _ = self._sessions.popitem(last=False)
            for name in [c for c, t in self._connections.items() if t == forgotten]:
                del self._connections[name]


def session_tool(sessions: SessionDefaults) -> Tool:
    """Return the tool `set_session_defaults`, which both servers offer."""

    async def set_session_defaults(
        collection: CollectionName = None, session: SessionToken = None
    ) -> SessionResult:
        """Set the default collection for the calls that follow.

        On a connection that lasts (SSE, stdio, HTTP with a session id) the default applies to it at
        once. Otherwise pass the returned `session` to later calls, or to this tool on another
        connection.
        """
        return sessions.set(collection, session)

    return Tool(set_session_defaults, "Set session defaults", "session", Effect.SETS)
