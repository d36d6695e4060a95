"""The schemas that lists of tools show: short, because an agent pays for them in every session.

Calls are validated by the tools' own signatures, which name a wrong value.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ctx_core.serving.service import UNLISTED

# A client needs no more: every answer names its own fields. An error body fits too; some clients
# (the TypeScript SDK 1.x) check errors against the schema of results.
OUTPUT_SCHEMA: Mapping[str, Any] = {"type": "object"}
NULL = {"type": "null"}
# Left to the server, whose errors name the value, or unknown to models.
_CHECKED_BY_THE_SERVER = frozenset(
    "maxLength minLength pattern title format minimum minItems maxItems ge le".split()
)
LARGEST_LISTED = 10_000  # a larger maximum is none that a model would reach
# Names that say all that their descriptions do. Half of a list would be descriptions; those of
# these parameters stand in docs/tools.md.
SPEAKING_NAMES = frozenset(
    (
        # filters and pages
        "limit offset cursor language repo_name under path_glob not_glob ext symbol per_path topic "
        "tags priority_min older_than_days thread_id thread_ids source content_type start_date "
        "end_date start_line end_line startTime endTime direction depth relations temperature "
        # what answers show
        "include_snippet include_images context_lines explain explain_query rerank_enabled "
        "rerank_top_n rerank_return_m format case_sensitive max_points batch "
        # which one
        "project session collection context_id context_ids contextId sourceContextId "
        "targetContextId targetId metaId relationshipType skill_name search_root workspace_path "
        # what to keep
        "information text message images mime_type position code author importance weight value "
        "comment consequences rationale title summary instructions entries updates action"
    ).split()
)


def listed_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of parameters without what only the server checks, and without nulls."""
    return _short(parameters)


def without_obvious_descriptions(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the descriptions of parameters whose names speak for themselves.

    Parameters that are not to be listed are left out.
    """
    kept = dict(schema)
    if "properties" in kept:
        kept["properties"] = {
            name: _undescribed(each) if name in SPEAKING_NAMES else each
            for name, each in (
                (name, without_obvious_descriptions(each))
                for name, each in kept["properties"].items()
                if not each.keys() & UNLISTED.keys()
            )
        }
    if isinstance(kept.get("items"), Mapping):
        kept["items"] = _undescribed(without_obvious_descriptions(kept["items"]))
    return kept


def _undescribed(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def required_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of the required parameters, which admits the others without their list."""
    return own_parameters(parameters, parameters["properties"])


def own_parameters(parameters: Mapping[str, Any], shared: Collection[str]) -> dict[str, Any]:
    """Return a schema of parameters without the shared ones that may be left out."""
    required = parameters.get("required", [])
    named = {
        name: schema
        for name, schema in parameters["properties"].items()
        if name in required or name not in shared
    }
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
