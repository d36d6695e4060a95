"""The session defaults of `set_session_defaults`, by token and by connection.

They are kept in memory only: after a restart an old token is an error that says so.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.access.access import current
from ctx_core.access.grant import Scope
from ctx_core.errors import InvalidInput
from ctx_core.serving import caller
from ctx_core.serving.service import Effect, Reach, Tool

log = logging.getLogger(__name__)

MAX_SESSIONS = 1_000  # of one client, about 200 bytes each; the least recently used is dropped
MAX_CLIENTS = 1_000  # the least recently seen is dropped with its sessions
MAX_BINDINGS = 50_000  # of connections to tokens; longer than sessions, so that their end is said
MAX_NAMED = 20  # collections in an error
TOKEN_BYTES = 16
FILTERS: tuple[Literal["mode", "under", "language"], ...] = ("mode", "under", "language")
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
    project: str
    mode: str
    under: str
    language: str


class SessionResult(TypedDict):
    """The result of `set_session_defaults`."""

    ok: bool
    session: str
    defaults: Defaults
    applied: str


@dataclass(frozen=True)
class _Session:
    token: str
    collection: str | None = None
    project: str | None = None
    filters: Mapping[str, str] = field(default_factory=dict)

    @property
    def defaults(self) -> Defaults:
        chosen: Defaults = {}
        if self.collection:
            chosen["collection"] = self.collection
        if self.project:
            chosen["project"] = self.project
        for name in FILTERS:
            if name in self.filters:
                chosen[name] = self.filters[name]
        return chosen


class SessionDefaults:
    """Keeps the defaults of each session, for the client that set them."""

    def __init__(self) -> None:
        self._clients: OrderedDict[str, OrderedDict[str, _Session]] = OrderedDict()
        self._connections: OrderedDict[str, str] = OrderedDict()

    def set(
        self,
        collection: str | None,
        token: str | None,
        project: str | None = None,
        filters: Mapping[str, str] | None = None,
    ) -> SessionResult:
        """Set what is given; with a token alone, bind this connection to that session.

        Raises InvalidInput for an unknown token.
        """
        given = {name: value for name, value in (filters or {}).items() if value}
        connection = caller.current.get().connection
        bound = self._connections.get(connection) if connection else None
        if token and not collection and not project and not given:
            session = self._known(token)
        else:
            token = token or bound or token_hex(TOKEN_BYTES)
            known = self._own().get(token) or _Session(token)
            session = _Session(
                token,
                collection or known.collection,
                project or known.project,
                {**known.filters, **given},
            )
        self._remember(session, connection)
        return {
            "ok": True,
            "session": session.token,
            "defaults": session.defaults,
            "applied": "connection" if connection else "session",
        }

    def collection(self, token: str | None) -> str | None:
        """Return the default collection of the token, else of this connection."""
        session = self._current(token)
        return session.collection if session else None

    def filters(self, token: str | None) -> Mapping[str, str]:
        """Return the default filters of the token, else of this connection."""
        session = self._current(token)
        return session.filters if session else {}

    def project(self) -> str | None:
        """Return the default project of this connection."""
        session = self._current(None)
        return session.project if session else None

    def _current(self, token: str | None) -> _Session | None:
        connection = caller.current.get().connection
        if not token and connection:
            token = self._connections.get(connection)
        return self._known(token) if token else None

    def _own(self) -> OrderedDict[str, _Session]:
        """Return the sessions of the client that is calling."""
        return self._clients.get(caller.current.get().client, OrderedDict())

    def _known(self, token: str) -> _Session:
        own = self._own()
        if token not in own:
            raise InvalidInput(
                "session",
                "no such session of this client: sessions end when the server restarts, and the "
                f"oldest of a client when it has set more than {MAX_SESSIONS}. "
                "Call set_session_defaults with a collection again.",
            )
        own.move_to_end(token)
        return own[token]

    def _remember(self, session: _Session, connection: str | None) -> None:
        own = self._clients.setdefault(caller.current.get().client, OrderedDict())
        self._clients.move_to_end(caller.current.get().client)
        own[session.token] = session
        own.move_to_end(session.token)
        if connection:
            self._connections[connection] = session.token
            self._connections.move_to_end(connection)
        if len(own) > MAX_SESSIONS:
            own.popitem(last=False)
            log.warning("dropped the oldest session of a client with more than %d", MAX_SESSIONS)
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
            log.warning("dropped the sessions of a client: there are more than %d", MAX_CLIENTS)
        if len(self._connections) > MAX_BINDINGS:
            self._connections.popitem(last=False)


@dataclass(frozen=True)
class KnownCollections:
    """The collections that a session can choose, and the call that makes another."""

    names: Callable[[], Awaitable[Collection[str]]]
    made_by: str

    async def check(self, collection: str | None) -> None:
        """Raise InvalidInput, with the names there are, for an unknown collection.

        `names` has those that the caller reaches.
        """
        current().was_checked = True
        if collection is None:
            return
        known = sorted(await self.names())
        if collection not in known:
            shown = ", ".join(known[:MAX_NAMED]) + (", …" if len(known) > MAX_NAMED else "")
            raise InvalidInput(
                "collection", f"{collection!r} is unknown; there are: {shown}; {self.made_by}"
            )


ProjectCheck = Callable[[str], Awaitable[str]]
"""Returns the root of the project that a folder belongs to, or raises where it may not be used."""


def session_tool(run: Callable[..., Awaitable[SessionResult]]) -> Tool:
    """Return the tool `set_session_defaults`, which each server offers with its own defaults."""
    return Tool(
        run,
        "Set session defaults",
        "session",
        Effect.SETS,
        scope=Scope.READ,  # it sets nothing that is stored
        reach=Reach.CHECKED,
    )


def project_session_tool(
    sessions: SessionDefaults, known: KnownCollections, check_project: ProjectCheck
) -> Tool:
    """Return the tool that sets a collection, and the project whose knowledge is meant."""

    async def set_session_defaults(
        collection: CollectionName = None,
        session: SessionToken = None,
        project: Annotated[
            str | None, Field(description="Default project folder of the knowledge tools.")
        ] = None,
    ) -> SessionResult:
        """Set the defaults for the calls that follow: a collection, a project or both.

        On a connection that lasts (SSE, stdio, HTTP with a session id) they apply to it at once.
        Otherwise pass the returned `session` to later calls, or to this tool on another connection,
        and `project` to the knowledge tools.
        """
        await known.check(collection)
        root = await check_project(project) if project else None
        return sessions.set(collection, session, root)

    return session_tool(set_session_defaults)
