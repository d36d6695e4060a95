"""Drafts that a database could not store unchanged."""

from typing import Any

import pytest

from ctx_core.errors import InvalidInput
from ctx_memory.records.store import Records
from tests.support.records import draft, one


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("text", {"text": "half \ud800"}),
        ("metadata", {"metadata": {"half \udfff": 1}}),
        ("metadata", {"metadata": {"a": [float("inf")]}}),
        ("metadata", {"metadata": {"a": object()}}),
        ("metadata", {"metadata": {1: "a"}}),
        ("thread", {"thread": "t" * 257}),
        ("tags", {"tags": ["t" * 257]}),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    records: Records, field: str, fields: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        await records.entries.add([draft(**({"text": "text"} | fields))])
    assert raised.value.details["field"] == field


async def test_nesting_has_an_end(records: Records) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested deeper"):
        await records.entries.add([draft("deep", metadata={"a": deep})])


async def test_a_nul_is_kept_or_refused_but_never_cut(records: Records) -> None:
    if records.dialect == "postgresql":
        for given in (draft("a\x00b"), draft("ab", metadata={"k": "a\x00b"})):
            with pytest.raises(InvalidInput, match="NUL"):
                await records.entries.add([given])
    else:
        [(entry_id, _, _)] = await records.entries.add([draft("a\x00b", metadata={"k": "a\x00b"})])
        entry = await one(records, entry_id)
        assert (entry.text, entry.metadata) == ("a\x00b", {"k": "a\x00b"})
