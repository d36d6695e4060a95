"""`read_code` through an MCP client: definitions by name, lines, outlines, as on disk."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_definition_by_its_qualified_name(engine: Engine) -> None:
    text = await engine.text("read_code", name="Order.cancel")
    assert text == (
        "src/orders/models.py:14-15 method Order.cancel (file has 20 lines)\n"
        "14\t    def cancel(self) -> None:\n"
        '15\t        raise OrderError("orders.E028", self)'
    )


@pytest.mark.parametrize("name", ["Order.cancel", "Order::cancel", "Order#cancel", "cancel"])
async def test_ways_to_write_a_name(engine: Engine, name: str) -> None:
    body = await engine.call("read_code", name=name)
    assert (body["symbol"], body["start_line"], body["end_line"]) == ("Order.cancel", 14, 15)


async def test_a_symbol_is_a_name(engine: Engine) -> None:
    body = await engine.call("read_code", symbol="Order.cancel")
    assert (body["symbol"], body.get("warnings")) == ("Order.cancel", None)


async def test_several_of_one_name_are_listed(engine: Engine) -> None:
    body = await engine.call("read_code", name="total")
    assert [row["symbol"] for row in body["definitions"]] == ["Order.total", "Line.total"]
    assert "code" not in body
    assert "2 definitions are called total" in body["message"]
    text = await engine.text("read_code", name="total")
    assert "src/orders/models.py:11-12 method Order.total | def total(self) -> int:" in text


async def test_an_unknown_class_is_said_to_be_unknown(engine: Engine) -> None:
    several = await engine.call("read_code", name="Invoice.total")
    assert "nothing is called Invoice.total: 2 definitions have its last" in several["message"]
    one = await engine.call("read_code", name="Invoice.cancel")
    assert one["message"] == "nothing is called Invoice.cancel; this has its last name"
    assert one["symbol"] == "Order.cancel"


async def test_a_path_narrows_a_name(engine: Engine) -> None:
    body = await engine.call("read_code", name="show", path="orders/views.py")
    assert body["path"] == "src/orders/views.py"
    wrong = await engine.call("read_code", name="show", path="orders/models.py")
    assert "it is in src/orders/views.py" in wrong["error"]


async def test_lines_of_a_file_and_what_follows(engine: Engine) -> None:
    body = await engine.call("read_code", path="src/orders/models.py", start_line=3, end_line=4)
    assert body["code"] == "3\tMAX_LINES = 20\n4\t"
    assert (body["total_lines"], "rest" in body) == (20, False)


@pytest.mark.parametrize(
    ("location", "first", "last"),
    [
        ("src/orders/models.py:6-9", 6, 9),
        ("src/orders/models.py#L6-L9", 6, 9),
        (".\\src\\orders\\models.py:6-6", 6, 6),
        ("src/orders/models.py:14", 14, 20),
        ("src/orders/models.py:14:9", 14, 20),
        ("src/orders/models.py#L14", 14, 20),
    ],
)
async def test_a_location_is_read_as_it_is_written(
    engine: Engine, location: str, first: int, last: int
) -> None:
    body = await engine.call("read_code", path=location)
    assert (body["start_line"], body["end_line"]) == (first, last)
    assert body["path"] == "src/orders/models.py"


async def test_a_file_url_is_a_path(engine: Engine, workspace: Path) -> None:
    body = await engine.call("read_code", path=f"file://{workspace}/src/orders/models.py:6-7")
    assert (body["path"], body["end_line"]) == ("src/orders/models.py", 7)


async def test_the_lines_of_a_location_do_not_cut_a_name(engine: Engine) -> None:
    body = await engine.call("read_code", name="Order.total", path="src/orders/models.py:9")
    assert body["symbol"] == "Order.total"
    assert len(body["code"].splitlines()) == 2


async def test_the_outline_of_a_file(engine: Engine) -> None:
    body = await engine.call("read_code", path="orders/models.py", outline=True)
    assert [(row["symbol"], row["start_line"]) for row in body["definitions"]] == [
        ("MAX_LINES", 3),
        ("Order", 6),
        ("Order.limit", 9),
        ("Order.total", 11),
        ("Order.cancel", 14),
        ("Line", 18),
        ("Line.total", 19),
    ]


async def test_long_files_come_in_parts(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/views.py"
    before = file.read_text()
    try:
        file.write_text("\n".join(f"row_{n} = {n}" for n in range(1, 1001)) + "\n")
        first = await engine.call("read_code", path="src/orders/views.py")
        assert first["end_line"] == 400
        assert first["rest"] == "lines 401-1000 follow: start_line=401"
        last = await engine.call("read_code", path="src/orders/views.py", start_line=900)
        assert (last["end_line"], "rest" in last) == (1000, False)
    finally:
        file.write_text(before)


async def test_a_changed_file_is_read_as_it_is(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/models.py"
    before = file.read_text()
    try:
        file.write_text("# a new first line\n" + before)
        body = await engine.call("read_code", name="Order.cancel")
        assert body["start_line"] == 15
    finally:
        file.write_text(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give the name of a definition, or a path"),
        ({"name": "Order.cancl"}, "no indexed file defines"),
        ({"name": "cance"}, "similar names: cancel"),
        ({"name": "."}, "name: is empty"),
        ({"path": "src/nowhere.py"}, "is not indexed"),
        ({"path": "../../etc/passwd"}, "is not indexed"),
        ({"path": "src/orders/models.py", "start_line": 900}, "has 20 lines"),
        ({"path": "src/orders/models.py", "start_line": 9, "end_line": 2}, "end_line"),
        ({"path": "src/orders/models.py", "start_line": 0}, "start_line"),
    ],
)
async def test_wrong_values(engine: Engine, arguments: dict[str, Any], message: str) -> None:
    body = await engine.call("read_code", **arguments)
    assert body["ok"] is False
    assert message in body["error"]


async def test_constants_of_the_file_that_it_uses(engine: Engine) -> None:
    file = engine.workspace / "src" / "orders" / "limits.py"
    file.write_text(
        "MAX_PARTS = 20\nOTHER_LIMIT = 1\n\n\ndef part_limit(parts: list[int]) -> bool:\n"
        "    return len(parts) < MAX_PARTS\n"
    )
    await engine.call("qdrant_index")
    text = await engine.text("read_code", name="part_limit")
    assert text == (
        "src/orders/limits.py:5-6 function part_limit (file has 6 lines)\n"
        "1\tMAX_PARTS = 20\n"
        "5\tdef part_limit(parts: list[int]) -> bool:\n"
        "6\t    return len(parts) < MAX_PARTS"
    )
    found = await engine.text("repo_search", query="part_limit")
    assert "function part_limit\n1\tMAX_PARTS = 20\n5\tdef part_limit" in found
    file.unlink()
    await engine.call("qdrant_index")


async def test_others_of_the_name_are_told(engine: Engine) -> None:
    file = engine.workspace / "src" / "orders" / "Cart.java"
    file.write_text("class Cart {\n  int size;\n  int size() {\n    return size;\n  }\n}\n")
    await engine.call("qdrant_index")
    body = await engine.call("read_code", name="Cart.size")
    assert (body["kind"], body["start_line"]) == ("method", 3)
    assert body["message"] == "also src/orders/Cart.java:2 variable Cart.size"
    file.unlink()
    await engine.call("qdrant_index")


async def test_an_outline_names_its_path_once(engine: Engine) -> None:
    text = await engine.text("read_code", path="orders/models.py", outline=True)
    assert text.count("src/orders/models.py") == 1
    assert "\n14-15 method Order.cancel | def cancel(self) -> None:" in text


async def test_a_folder_is_told_from_a_file_that_is_not_indexed(engine: Engine) -> None:
    body = await engine.call("read_code", path="src/orders")
    assert body["details"]["field"] == "path"
    assert body["details"]["message"].startswith("src/orders is a folder of 2 files: ")
