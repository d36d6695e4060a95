"""Prepare the arguments of a call: decode JSON texts, drop nulls, find unknown names.

Arguments that no tool could read are refused.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctx_core.errors import InvalidInput
from ctx_core.serving.service import Effect, Tool

MAX_DEPTH = 128  # of nested lists and objects: the databases and libraries behind have stacks
NUMBERS = frozenset({"integer", "number"})  # types of JSON
OPENERS = {"array": "[", "object": "{"}
PYTHON_TYPES: Mapping[str, type] = {"array": list, "object": dict}


def prepare_arguments(
    tool: Tool, arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments to validate, and warnings that name those without an effect.

    Null means not given. A strict tool, and one that deletes, refuses unknown arguments: they may
    have been meant to spare or to hide something. Raises InvalidInput as `check_arguments` does.
    """
    properties = schema.get("properties", {})
    given = _flattened(arguments, properties)
    if tool.adapt is not None:
        given = tool.adapt(given)
    decoded = decode_json_arguments(given, schema)
    check_arguments(decoded)
    definitions = schema.get("$defs", {})
    for name, value in decoded.items():
        _check_number(name, value, _types(properties.get(name, {}), definitions))
    kept = {
        name: value
        for name, value in decoded.items()
        if value is not None or "null" in _types(properties.get(name, {}), definitions)
    }
    is_strict = tool.strict or tool.effect is Effect.DESTROYS
    unknown = [] if is_strict else sorted(kept.keys() - properties.keys())
    warnings = [f"{name}: {tool.name} has no such argument; it was ignored" for name in unknown]
    return {name: value for name, value in kept.items() if name not in unknown}, warnings


def _flattened(arguments: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Merge an argument `kwargs`, an object or its JSON, into the others."""
    given = dict(arguments)
    if "kwargs" in properties or "kwargs" not in given:
        return given
    more = given.pop("kwargs")
    if isinstance(more, str):
        more = _parse(more, dict, more)
    return {**more, **given} if isinstance(more, dict) else given


def add_warnings(body: Mapping[str, Any], warnings: Sequence[str]) -> dict[str, Any]:
    """Return a result with more warnings."""
    return {**body, "warnings": [*body.get("warnings", ()), *warnings]} if warnings else dict(body)


def decode_json_arguments(
    arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments with JSON-encoded lists, objects and nulls decoded.

    What cannot be decoded stays as it is: validation then names the problem.
    """
    properties = schema.get("properties", {})
    definitions = schema.get("$defs", {})
    return {
        name: _decode(value, _types(properties.get(name, {}), definitions))
        for name, value in arguments.items()
    }


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise InvalidInput for texts that are not Unicode and for values nested too deep."""
    for name, value in arguments.items():
        field = name.encode("utf-8", "replace").decode()
        if field != name:
            raise InvalidInput("arguments", f"the name {field!r} is not Unicode")
        _check_value(field, value)


def _check_value(field: str, value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return
        for text in (each for each in level if isinstance(each, str)):
            _check_text(field, text)
        for key in (key for each in level if isinstance(each, dict) for key in each):
            _check_text(field, str(key))
        level = [inner for each in level for inner in _inner(each)]
    raise InvalidInput(field, f"is nested deeper than {MAX_DEPTH} levels")


def _check_number(field: str, value: Any, types: frozenset[str]) -> None:
    """Raise InvalidInput for a boolean where a number belongs: true would count as 1."""
    if isinstance(value, bool) and types & NUMBERS and "boolean" not in types:
        raise InvalidInput(field, "Input should be a number, not true or false")


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _check_text(field: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field, f"holds half a character (a lone surrogate) at position {error.start}"
        ) from error


def _types(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> frozenset[str]:
    """Return every JSON type that a property's schema admits."""
    if "$ref" in schema:
        return _types(definitions.get(schema["$ref"].rsplit("/", 1)[-1], {}), definitions)
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    if options:
        return frozenset().union(*(_types(option, definitions) for option in options))
    kind = schema.get("type", ())
    return frozenset([kind] if isinstance(kind, str) else kind)


def _decode(value: Any, types: frozenset[str]) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    for kind in ("array", "object"):
        if kind in types and text.startswith(OPENERS[kind]):
            return _parse(text, PYTHON_TYPES[kind], value)
    return None if text == "null" and "null" in types and "string" not in types else value


def _parse(text: str, expected: type, original: str) -> Any:
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: nested too deep
        return original
    return decoded if isinstance(decoded, expected) else original
