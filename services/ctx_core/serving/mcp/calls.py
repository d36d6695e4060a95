"""One call of a tool, whatever carries it: permission, arguments, deadline, errors.

The MCP pipeline uses these steps, and `call_in_process` is all of them without MCP, whose libraries
take a second to import.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from ctx_core.errors import CtxError, InvalidInput, NotPermitted, TimedOut, Unexpected
from ctx_core.serving import progress
from ctx_core.serving.mcp.arguments import add_warnings, prepare_arguments
from ctx_core.serving.problems import problems
from ctx_core.serving.service import JsonText, Service, TextResult, Tool
from ctx_core.serving.toolsets import Selection, configured
from ctx_core.settings import Settings

log = logging.getLogger(__name__)


async def call_in_process(
    service: Service,
    settings: Settings,
    name: str,
    arguments: Mapping[str, Any],
    on_progress: progress.Report | None = None,
) -> dict[str, Any]:
    """Call a tool as a client of the server would, and return its result. Raises CtxError."""
    tools = {tool.name: tool for tool in (*service.tools, *service.owner_tools)}
    tool = permit(tools, name, configured(settings))
    adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, tool.run))
    given, warnings = prepare_arguments(tool, arguments, adapter.json_schema())
    if on_progress is not None:
        progress.current.set(on_progress)
    try:
        call = adapter.validate_python(given)
    except ValidationError as error:
        raise invalid_arguments(error) from error
    result = await run_with_deadline(lambda: call, name, deadline_of(tool, settings))
    if isinstance(result, TextResult):
        result = result.data
    if isinstance(result, JsonText):
        return {"result": to_jsonable_python(result.value)}
    body = to_jsonable_python(result)
    # As over MCP, where a result is always an object.
    return add_warnings(body if isinstance(body, dict) else {"result": body}, warnings)


def permit(tools: Mapping[str, Tool], name: str, selection: Selection) -> Tool:
    """Return a tool by its name. Raises InvalidInput or NotPermitted."""
    tool = tools.get(name)
    if tool is None:
        near = get_close_matches(name, tools, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InvalidInput("name", f"no tool named {name!r}{hint}")
    if not selection.admits(tool):
        raise NotPermitted(
            f"{name} is not among the tools of this connection: it belongs to the toolset "
            f"{tool.toolset!r}" + (" and writes" if tool.writes else ""),
            tool=name,
            toolset=tool.toolset,
        )
    return tool


def invalid_arguments(error: ValidationError) -> InvalidInput:
    """Return the first problem as the contract's error, the others in its details."""
    first, *others = problems(error)
    more = {"others": [each._asdict() for each in others]} if others else {}
    return InvalidInput(first.field or "arguments", first.message, **more)


def deadline_of(tool: Tool, settings: Settings) -> float:
    """Return how many seconds a call may take."""
    return tool.timeout_seconds or settings.operation_timeout_seconds


async def run_with_deadline(
    call: Callable[[], Awaitable[Any]], name: str, timeout_seconds: float
) -> Any:
    """Await a call. Raises TimedOut after its deadline, and Unexpected for a defect of ours."""
    try:
        async with asyncio.timeout(timeout_seconds):
            return await call()
    except CtxError:
        raise
    except TimeoutError as error:
        raise TimedOut(
            f"The call took longer than {timeout_seconds:g} s (CTX_OPERATION_TIMEOUT_SECONDS) and "
            "was stopped.",
            timeout_seconds=timeout_seconds,
        ) from error
    except Exception as error:
        log.exception("tool %s failed", name)
        raise Unexpected("Internal error; the server's log has the details.") from error
