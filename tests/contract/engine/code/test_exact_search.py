"""`exact_search` through an MCP client: every line, what it is, and a true count."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")


def lines(body: dict[str, Any]) -> list[tuple[str, int]]:
    return [(file["path"], row["line"]) for file in body["results"] for row in file["lines"]]


async def test_every_line_with_what_it_is(engine: Engine) -> None:
    body = await engine.call("exact_search", pattern="total", under="src/orders")
    assert body["complete"] is True
    assert body["total"] == 4
    assert body["files"] == 2
    models, views = body["results"]
    assert [(row["line"], row.get("role"), row["symbol"]) for row in models["lines"]] == [
        (11, "definition", "Order.total"),
        (12, "call", "Order.total"),
        (19, "definition", "Line.total"),
    ]
    assert views["lines"][0]["role"] == "call"
    assert views["lines"][0]["text"] == 'return f"{order.total()} of {Order.limit}"'


async def test_the_text_is_what_an_agent_reads(engine: Engine) -> None:
    text = await engine.text("exact_search", pattern="orders.E028")
    assert text == (
        "1 line in 1 file (complete)\n"
        "src/orders/models.py\n"
        "  in Order.cancel\n"
        '15: raise OrderError("orders.E028", self)'
    )


async def test_a_query_is_a_pattern(engine: Engine) -> None:
    """Agents that came from the other searches call it that."""
    assert await engine.text("exact_search", query="orders.E028") == await engine.text(
        "exact_search", pattern="orders.E028"
    )


async def test_imports_are_told_from_uses(engine: Engine) -> None:
    body = await engine.call(
        "exact_search", pattern="Order", whole_word=True, path_glob="**/views.py"
    )
    assert [row.get("role") for row in body["results"][0]["lines"]] == ["import", None, None]


async def test_only_calls_or_subclasses_of_a_name(engine: Engine) -> None:
    calls = await engine.call("exact_search", pattern="total", role="call", under="src/orders")
    assert lines(calls) == [("src/orders/models.py", 12), ("src/orders/views.py", 5)]
    assert (calls["total"], calls["any_role"], calls["complete"]) == (2, 4, True)
    text = await engine.text("exact_search", pattern="total", role="call", ext="py")
    assert text.startswith("2 lines in 2 files, of 4 that match (complete)\n")
    assert "[call]" not in text


async def test_the_classes_below_a_class(engine: Engine) -> None:
    file = engine.workspace / "src/orders/views.py"
    before = file.read_text()
    file.write_text(f"{before}\n\nclass RushOrder(\n    Order,\n):\n    pass\n")
    try:
        body = await engine.call("exact_search", pattern="Order", whole_word=True, role="base")
    finally:
        file.write_text(before)
    assert [row["symbol"] for file in body["results"] for row in file["lines"]] == ["RushOrder"]


async def test_pages_go_on_where_they_ended(engine: Engine) -> None:
    whole = await engine.call("exact_search", pattern="return")
    assert whole["complete"]
    paged: list[tuple[str, int]] = []
    while len(paged) < whole["total"]:
        page = await engine.call("exact_search", pattern="return", limit=3, offset=len(paged))
        assert page["complete"] is False
        assert page["total"] == whole["total"]
        paged += lines(page)
    assert paged == lines(whole)
    first = await engine.call("exact_search", pattern="return", limit=3)
    assert "offset=3" in first["truncated"]


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"pattern": r"def \w+\(self", "regex": True, "under": "src/orders"}, {"models.py"}),
        (
            {"pattern": "ORDER", "case_sensitive": False, "ext": "py", "under": "src/orders"},
            {"models.py", "views.py"},
        ),
        ({"pattern": "Order", "language": "python", "not_glob": "**/views.py"}, {"models.py"}),
        ({"pattern": "nowhere_at_all"}, set()),
    ],
)
async def test_filters(engine: Engine, arguments: dict[str, Any], paths: set[str]) -> None:
    body = await engine.call("exact_search", **arguments)
    assert {Path(path).name for path, _ in lines(body)} == paths
    assert body["complete"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"pattern": ""}, "pattern"),
        ({"pattern": "(", "regex": True}, "pattern"),
        ({"pattern": r"(?=x)", "regex": True}, "pattern"),
        ({"pattern": "x", "repo": "nobody"}, "repo"),
        ({"pattern": "x", "under": "../.."}, "under"),
        ({"pattern": "x", "limit": 0}, "limit"),
        ({"pattern": "x", "offset": -1}, "offset"),
    ],
)
async def test_wrong_values_name_their_field(
    engine: Engine, arguments: dict[str, Any], field: str
) -> None:
    body = await engine.call("exact_search", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert field in body["error"]


async def test_an_unknown_collection(engine: Engine) -> None:
    body = await engine.call("exact_search", pattern="x", collection="nowhere")
    assert body["error_code"] == "COLLECTION_NOT_FOUND"


async def test_it_reads_the_disk(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/views.py"
    before = file.read_text()
    try:
        file.write_text(before + "\n\nFRESHLY_WRITTEN = 1\n")
        body = await engine.call("exact_search", pattern="FRESHLY_WRITTEN")
        assert lines(body) == [("src/orders/views.py", 8)]
        file.unlink()
        gone = await engine.call("exact_search", pattern="FRESHLY_WRITTEN")
        assert gone["total"] == 0
        assert "1 indexed file gone" in gone["warnings"][0]
    finally:
        file.write_text(before)


async def test_secrets_are_never_shown(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/views.py"
    before = file.read_text()
    token = "AKIA" + "Z7QHRT5WXKPLM3VN"
    try:
        file.write_text(f'{before}\nAWS_KEY = "{token}"\n')
        assert (await engine.call("exact_search", pattern=token[:10]))["total"] == 0
        shown = await engine.text("exact_search", pattern="AWS_KEY")
        assert token not in shown
        assert "[redacted" in shown
    finally:
        file.write_text(before)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"under": "src/nowhere"}, "under"),
        ({"path_glob": "**/*.nothing"}, "path_glob"),
        ({"repo": "shopp"}, "repo"),
    ],
)
async def test_a_place_that_is_not_there_is_no_complete_answer(
    engine: Engine, arguments: dict[str, Any], field: str
) -> None:
    body = await engine.call("exact_search", pattern="total", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field


async def test_filters_that_no_file_fits_are_told(engine: Engine) -> None:
    text = await engine.text("exact_search", pattern="total", language="fortran")
    assert "nothing was searched" in text
    assert "nothing was searched" not in await engine.text("exact_search", pattern="no_such_text")
