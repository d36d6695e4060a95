"""Arguments that come as JSON text."""

import pytest

from ctx_core.serving.mcp.arguments import decode_json_arguments

SCHEMA = {
    "properties": {
        "tags": {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]},
        "metadata": {"anyOf": [{"$ref": "#/$defs/Metadata"}, {"type": "null"}]},
        "names": {"type": "array"},
        "text": {"type": "string"},
    },
    "$defs": {"Metadata": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", "a,b", "a,b"),
        ("tags", "[not json", "[not json"),
        ("tags", "[" * 100_000, "[" * 100_000),
        ("tags", ["a"], ["a"]),
        ("metadata", '{"kind": "pattern"}', {"kind": "pattern"}),
        ("metadata", "null", None),
        ("metadata", "[1]", "[1]"),
        ("metadata", None, None),
        ("names", ' ["x"] ', ["x"]),
        ("text", '["stays text"]', '["stays text"]'),
        ("unknown", "[1]", "[1]"),
    ],
)
def test_json_text_is_decoded_only_where_the_schema_has_a_list_or_object(
    name: str, given: object, expected: object
) -> None:
    assert decode_json_arguments({name: given}, SCHEMA) == {name: expected}
