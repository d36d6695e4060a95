"""The short schemas of lists of tools."""

from ctx_core.serving.mcp.schemas import (
    SPEAKING_NAMES,
    listed_parameters,
    own_parameters,
    required_parameters,
    without_obvious_descriptions,
)

PARAMETERS = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "query": {"type": "string", "maxLength": 10, "description": "Words."},
        "limit": {"type": "integer", "minimum": 1, "default": 10},
        "repo": {"anyOf": [{"type": "string", "pattern": "x"}, {"type": "null"}], "default": None},
        "tags": {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]},
        "entries": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "maxLength": 9, "description": "Its text."},
                    "level": {
                        "anyOf": [{"type": "integer", "maximum": 10}, {"type": "null"}],
                        "default": None,
                    },
                },
            },
        },
    },
}


def test_nulls_and_what_only_the_server_checks_are_left_out() -> None:
    listed = listed_parameters(PARAMETERS)
    assert listed["required"] == ["query"]
    assert "additionalProperties" not in listed
    assert listed["properties"] == {
        "query": {"type": "string", "description": "Words."},
        "limit": {"type": "integer", "default": 10},
        "repo": {"type": "string"},
        "tags": {"anyOf": [{"type": "string"}, {"type": "array"}]},
        "entries": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "description": "Its text."},
                    "level": {"type": "integer", "maximum": 10},
                },
            },
        },
    }


def test_an_alias_lists_what_is_required_and_admits_the_rest() -> None:
    listed = required_parameters(PARAMETERS)
    assert list(listed["properties"]) == ["query"]
    assert "additionalProperties" not in listed


def test_only_what_a_name_does_not_say_is_described() -> None:
    listed = without_obvious_descriptions(listed_parameters(PARAMETERS))
    assert {"text", "limit"} <= SPEAKING_NAMES
    assert listed["properties"]["query"] == {"type": "string", "description": "Words."}
    assert listed["properties"]["entries"]["items"]["properties"] == {
        "text": {"type": "string"},
        "level": {"type": "integer", "maximum": 10},
    }


def test_a_tool_that_extends_another_lists_its_own_parameters() -> None:
    listed = own_parameters(PARAMETERS, ["query", "repo", "tags", "entries"])
    assert sorted(listed["properties"]) == ["limit", "query"]
