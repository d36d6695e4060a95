"""The schemas that lists of tools show: short, because an agent pays for them in every session.

Calls are validated by the tools' own signatures, which name a wrong value.
"""

from collections.abc import Mapping
from typing import Any

# A client needs no more: every answer names its own fields. An error body fits too; some clients
# (the TypeScript SDK 1.x) check errors against the schema of results.
OUTPUT_SCHEMA: Mapping[str, Any] = {"type": "object"}
NULL = {"type": "null"}
# Left to the server, whose errors name the value, or unknown to models.
_CHECKED_BY_THE_SERVER = frozenset(
    "maxLength minLength pattern title format minimum minItems maxItems ge le".split()
)
LARGEST_LISTED = 10_000  # a larger maximum is none that a model would reach


def listed_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of parameters without what only the server checks, and without nulls."""
    return _short(parameters)


def required_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the required parameters, which admits the others without their list."""
    required = parameters.get("required", [])
    named = {name: parameters["properties"][name] for name in required}
    return {"type": "object", "properties": _each_short(named), "required": required}


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Shorten a schema and those inside it; a value that may be left out needs no null.

    The server refuses unknown names, so no list says that they are refused.
    """
    short = {
        key: value
        for key, value in schema.items()
        if key not in _CHECKED_BY_THE_SERVER
        and (key, value) != ("default", None)
        and not (key == "additionalProperties" and isinstance(value, bool))
        and not (key == "maximum" and value > LARGEST_LISTED)
    }
    for key in ("properties", "$defs"):
        if key in short:
            short[key] = _each_short(short[key])
    if isinstance(short.get("items"), Mapping):
        short["items"] = _short(short["items"])
    options = [_short(each) for each in short.pop("anyOf", ()) if each != NULL]
    if len(options) == 1:
        return {**options[0], **short}
    return {**short, "anyOf": options} if options else short


def _each_short(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _short(each) for name, each in schemas.items()}
