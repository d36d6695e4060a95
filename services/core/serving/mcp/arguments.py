"""Decode arguments that a client sent as JSON text where the schema has a list or an object."""

import json
from collections.abc import Mapping
from typing import Any

OPENERS = {"array": "[", "object": "{"}
PYTHON_TYPES: Mapping[str, type] = {"array": list, "object": dict}


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
