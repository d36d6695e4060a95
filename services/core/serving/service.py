"""The types that describe a service: its tools, resources, prompts, checks and ports."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from services.core.errors import CtxError, error_body

# The schema of a parameter that is understood and documented, but not listed: of other servers.
UNLISTED: Mapping[str, Any] = {"x-unlisted": True}


class Effect(Enum):
    """How a call of a tool changes stored data."""

    READS = "reads"
    ADDS = "adds"  # calling twice adds twice
    SETS = "sets"  # calling twice is the same as once
    REPLACES = "replaces"  # what was there is gone
    DESTROYS = "destroys"


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
    tool refuses arguments that it does not have.
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

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def writes(self) -> bool:
        return self.effect is not Effect.READS


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
    mime_type: str = "text/plain"


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


@dataclass(frozen=True)
class RestEndpoint:
    """A REST API on a port of its own; `error_body` writes an error in the API's words."""

    port: int
    routes: Sequence[RestRoute]
    error_body: Callable[[int, str], Mapping[str, Any]]


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
    of the user who runs it: nobody else is offered them.
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

    @property
    def toolsets(self) -> frozenset[str]:
        return frozenset(tool.toolset for tool in self.tools)
