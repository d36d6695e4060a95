"""Tools that share arguments: declared once as a dataclass, listed as single parameters."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

Run = Callable[..., Awaitable[Any]]


def flat_arguments(run: Run) -> Run:
    """Replace the parameter that is a dataclass by a parameter for each of its fields.

    `find(query, asked: Page, explain)` → `find(query, limit, offset, explain)`. Where a field has
    the name of another parameter, that parameter stands and the field keeps its default.
    """
    hints = get_type_hints(run, include_extras=True)
    declared = inspect.signature(run).parameters
    bundle = next(name for name in declared if is_dataclass(hints[name]))
    shared = [each for each in _field_parameters(hints[bundle]) if each.name not in declared]
    parameters: list[inspect.Parameter] = []
    for name, each in declared.items():
        parameters += shared if name == bundle else [_parameter(name, hints[name], each.default)]

    @functools.wraps(run)
    async def tool(**given: Any) -> Any:
        values = {each.name: given.pop(each.name) for each in shared if each.name in given}
        return await run(**{bundle: hints[bundle](**values)}, **given)

    _declare(tool, parameters, hints["return"])
    return tool


def _field_parameters(arguments: Any) -> list[inspect.Parameter]:
    hints: Mapping[str, Any] = get_type_hints(arguments, include_extras=True)
    return [_parameter(each.name, hints[each.name], each.default) for each in fields(arguments)]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Build a parameter by name; dataclasses and signatures mark a missing default differently."""
    missing = default in (MISSING, inspect.Parameter.empty)
    kept = inspect.Parameter.empty if missing else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=kept, annotation=annotation
    )


def _declare(tool: Any, parameters: list[inspect.Parameter], result: Any) -> None:
    """Let a function that takes anything by name tell these parameters to whoever inspects it."""
    del tool.__wrapped__
    tool.__signature__ = inspect.Signature(parameters, return_annotation=result)
    tool.__annotations__ = {**{p.name: p.annotation for p in parameters}, "return": result}
