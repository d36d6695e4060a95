"""The types that describe a service: its tools, checks and ports."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Effect(Enum):
    """How a call of a tool changes stored data."""

    READS = "reads"
    ADDS = "adds"  # calling twice adds twice
    SETS = "sets"  # calling twice is the same as once
    DESTROYS = "destroys"


@dataclass(frozen=True)
class Tool:
    """An async function with typed, described parameters; its docstring is the description.

    `timeout_seconds` replaces CTX_OPERATION_TIMEOUT_SECONDS for a tool that may take long and
    reports progress. `render` writes the text content of a result: what an agent reads. Without it
    the text is the result as JSON.
    """

    run: Callable[..., Awaitable[Any]]
    title: str
    toolset: str
    effect: Effect
    timeout_seconds: float | None = None
    render: Callable[[Mapping[str, Any]], str] | None = None

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def writes(self) -> bool:
        return self.effect is not Effect.READS


Check = Callable[[], Awaitable[None]]
"""A readiness check: returns if the dependency works, raises with the reason if not."""


Advice = Callable[[], Awaitable[Sequence[str]]]
"""Returns what an operator should know although every check passes."""


async def _no_advice() -> Sequence[str]:
    return []


@dataclass(frozen=True)
class Service:
    """One MCP server: its tools, its readiness checks, its gauges and its ports."""

    name: str
    instructions: str
    tools: Sequence[Tool]
    checks: Mapping[str, Check]
    http_port: int
    sse_port: int
    advice: Advice = _no_advice
    gauges: Mapping[str, Callable[[], float]] = field(default_factory=dict)

    @property
    def toolsets(self) -> frozenset[str]:
        return frozenset(tool.toolset for tool in self.tools)
