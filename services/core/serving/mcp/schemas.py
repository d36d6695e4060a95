"""The schemas that lists of tools show: short, because an agent pays for them in every session.

Calls are validated by the tools' own signatures, which name a wrong value.
"""

from collections.abc import Mapping
from typing import Any

# A client needs no more: every answer names its own fields. An error body fits too; some clients
# (the TypeScript SDK 1.x) check errors against the schema of results.
OUTPUT_SCHEMA: Mapping[str, Any] = {"type": "object"}
NULL = {"type": "null"}
_CHECKED_BY_THE_SERVER = frozenset({"maxLength", "minLength", "pattern", "title"})


def listed_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of parameters without what only the server checks, and without nulls."""
    short = {key: value for key, value in parameters.items() if key != "properties"}
    properties = parameters.get("properties", {})
    return short | {"properties": {name: _short(each) for name, each in properties.items()}}


def required_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the required parameters that admits the others without their list."""
    required = parameters.get("required", [])
    return {
        "type": "object",
        "properties": {name: _short(parameters["properties"][name]) for name in required},
        "required": required,
        "additionalProperties": True,
    }


def _short(described: Mapping[str, Any]) -> dict[str, Any]:
    """Shorten one parameter; one that may be left out needs no null."""
    short = {
        key: value
        for key, value in described.items()
        if key not in _CHECKED_BY_THE_SERVER and (key, value) != ("default", None)
    }
    options = [_short(each) for each in short.pop("anyOf", ()) if each != NULL]
    if len(options) == 1:
        return {**options[0], **short}
    return {**short, "anyOf": options} if options else short
