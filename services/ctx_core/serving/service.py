"""The types that describe a service: its tools, resources, prompts, checks and ports."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Protocol

from ctx_core.access.access import Access
from ctx_core.access.grant import Scope
from ctx_core.errors import CtxError, error_body

# The schema of a parameter that is understood and documented, but not listed: of other servers.
UNLISTED: Mapping[str, Any] = {"x-unlisted": True}


class Effect(Enum):
    """How a call of a tool changes stored data."""

    READS = "reads"
    ADDS = "adds"  # calling twice adds twice
    SETS = "sets"  # calling twice is the same as once
    REPLACES = "replaces"  # what was there is gone
    DESTROYS = "destroys"


class Reach(Enum):
    """What a call is about, as far as tokens that are limited to some data are concerned."""

    NOTHING = "nothing"  # no stored data
    CHECKED = "checked"  # the tool compares each collection and project with the call's access
    EVERYTHING = "everything"  # limited tokens are refused


@dataclass(frozen=True)
class OneCollection:
    """The reach of a tool whose data is always of the same collection."""

    name: str


@dataclass(frozen=True)
class TextResult:
    """A result whose text, in one block or more, is not its data written as JSON."""

    texts: Sequence[str]
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Tool:
    """An async function with typed, described parameters; its docstring is the description.

    `timeout_seconds` replaces CTX_OPERATION_TIMEOUT_SECONDS for a tool that may take long and
    reports progress. `render` writes the text content of a result: what an agent reads. Without it
    the text is the result as JSON. `error_body` is how the tool's dialect writes errors. A `lean`
    tool is one of the few of the toolset `lean`. `alias_of` names a tool with the same parameters,
    `extends` one whose parameters it has beside its own, which lists do not repeat. `adapt`
    replaces arguments that clients of other servers pass, before they are validated. A `strict`
    tool refuses arguments that it does not have. `scope` replaces the scope that its effect needs;
    `reach` says which tokens with limits may call it.
    """

    run: Callable[..., Awaitable[Any]]
    title: str
    toolset: str
    effect: Effect
    timeout_seconds: float | None = None
    render: Callable[[Mapping[str, Any]], str] | None = None
    error_body: Callable[[CtxError], dict[str, Any]] = error_body
    lean: bool = False
    alias_of: str | None = None
    extends: str | None = None
    adapt: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    strict: bool = False
    scope: Scope | None = None
    reach: Reach | OneCollection | None = None  # as EVERYTHING

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def writes(self) -> bool:
        return self.effect is not Effect.READS

    @property
    def needed_scope(self) -> Scope:
        return self.scope or (Scope.WRITE if self.writes else Scope.READ)

    def admits(self, access: Access) -> bool:
        """Whether a token is offered this tool, whatever a call is about."""
        if access.grant.scope < self.needed_scope:
            return False
        if isinstance(self.reach, OneCollection):
            return access.reaches_collection(self.reach.name)
        return access.limits is None or self.reach not in (None, Reach.EVERYTHING)

    def require(self, access: Access) -> None:
        """Raise NotPermitted where a token may not call this tool at all."""
        access.require_scope(self.needed_scope, self.name)
        require_reach(self.reach or Reach.EVERYTHING, access, self.name)


def require_reach(reach: Reach | OneCollection, access: Access, what: str) -> None:
    """Raise NotPermitted where a token reaches nothing of this."""
    if isinstance(reach, OneCollection):
        access.require_collection(reach.name)
    elif reach is Reach.EVERYTHING:
        access.require_everything(what)
    elif reach is Reach.NOTHING:
        access.was_checked = True


def reaching(tools: Iterable["Tool"], reach: Reach | OneCollection) -> list["Tool"]:
    """Return tools with this reach, those that have none of their own."""
    return [replace(tool, reach=tool.reach or reach) for tool in tools]


@dataclass(frozen=True)
class JsonText:
    """The result of a tool whose text is always JSON, also where the value is a text or a list."""

    value: Any


@dataclass(frozen=True)
class Resource:
    """A text that clients read by its URI; `run` returns it, its docstring is the description.

    `{name}` in the URI is a parameter of `run`.
    """

    uri: str
    run: Callable[..., Awaitable[str]]
    title: str
    toolset: str


@dataclass(frozen=True)
class Prompt:
    """A text that a person lets a client start with; `run` returns it and describes it."""

    run: Callable[..., Awaitable[str]]
    title: str
    toolset: str

    @property
    def name(self) -> str:
        return self.run.__name__


Check = Callable[[], Awaitable[None]]
"""A readiness check: returns if the dependency works, raises with the reason if not."""


Advice = Callable[[], Awaitable[Sequence[str]]]
"""Returns what an operator should know although every check passes."""


@dataclass(frozen=True)
class RestRequest:
    """A request as a route's function gets it; `body` is parsed JSON, None without a body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None


@dataclass(frozen=True)
class RestRoute:
    """A method and a path such as `/related/{contextId}`, and the function that answers.

    `timeout_seconds` replaces CTX_OPERATION_TIMEOUT_SECONDS.
    """

    method: str
    path: str
    run: Callable[[RestRequest], Awaitable[Mapping[str, Any]]]
    timeout_seconds: float | None = None

    @property
    def needed_scope(self) -> Scope:
        return Scope.READ if self.method == "GET" else Scope.WRITE


@dataclass(frozen=True)
class RestEndpoint:
    """A REST API on a port of its own; `error_body` writes an error in the API's words."""

    port: int
    routes: Sequence[RestRoute]
    error_body: Callable[[int, str], Mapping[str, Any]]
    reach: Reach | OneCollection = Reach.EVERYTHING


async def _no_advice() -> Sequence[str]:
    return []


class TimedOperation(Protocol):
    """The calls of one operation of Qdrant since the start."""

    @property
    def calls(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def seconds(self) -> float: ...


OperationTimes = Callable[[], Mapping[str, TimedOperation]]


@dataclass(frozen=True)
class Service:
    """One server: what it offers to clients, its readiness checks, gauges and ports.

    `details` are told with the readiness, as JSON by name. `owner_tools` are for the command line
    of the user who runs it: nobody else is offered them. `about_project` follows the instructions
    for clients whose token has no limits.
    """

    name: str
    instructions: str
    tools: Sequence[Tool]
    checks: Mapping[str, Check]
    http_port: int
    sse_port: int
    advice: Advice = _no_advice
    gauges: Mapping[str, Callable[[], float]] = field(default_factory=dict)
    operation_times: OperationTimes = dict
    details: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    resources: Sequence[Resource] = ()
    prompts: Sequence[Prompt] = ()
    rest: RestEndpoint | None = None
    owner_tools: Sequence[Tool] = ()
    about_project: str = ""

    @property
    def toolsets(self) -> frozenset[str]:
        return frozenset(tool.toolset for tool in self.tools)
