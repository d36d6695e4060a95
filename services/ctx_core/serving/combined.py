"""One service made of several, so that a client needs one address."""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctx_core.serving.service import Service, TimedOperation, Tool

NAME = "ctx"


def combined(services: Sequence[Service], http_port: int) -> Service:
    """Return a service with the tools of all.

    A name that two of them have stays with the last one; the others' is prefixed with their own:
    `memory_set_session_defaults`.
    """
    last = services[-1]
    taken = Counter(tool.name for service in services for tool in service.tools)
    tools = [
        tool if taken[tool.name] == 1 or service is last else _renamed(tool, service.name)
        for service in services
        for tool in service.tools
    ]

    async def advice() -> Sequence[str]:
        return [text for service in services for text in await service.advice()]

    def operation_times() -> Mapping[str, TimedOperation]:
        return {
            f"{service.name}_{name}": times
            for service in services
            for name, times in service.operation_times().items()
        }

    return Service(
        name=NAME,
        instructions="\n".join(_instructions(services, taken)),
        tools=tools,
        checks={
            f"{service.name}_{name}": check
            for service in services
            for name, check in service.checks.items()
        },
        http_port=http_port,
        sse_port=http_port,
        advice=advice,
        operation_times=operation_times,
        resources=[each for service in services for each in service.resources],
        prompts=[each for service in services for each in service.prompts],
        about_project="\n".join(each.about_project for each in services if each.about_project),
    )


def _instructions(services: Sequence[Service], taken: Counter[str]) -> Iterator[str]:
    """Yield each service's instructions, with the names that its tools have here."""
    for service in services:
        yield service.instructions
        names = [tool.name for tool in service.tools if taken[tool.name] > 1]
        if names and service is not services[-1]:
            yield f"Of {service.name}: " + ", ".join(f"`{service.name}_{name}`" for name in names)


def _renamed(tool: Tool, service: str) -> Tool:
    @functools.wraps(tool.run)
    async def run(*args: Any, **kwargs: Any) -> Any:
        return await tool.run(*args, **kwargs)

    run.__name__ = f"{service}_{tool.name}"
    return replace(tool, run=run, title=f"{tool.title} ({service})")
