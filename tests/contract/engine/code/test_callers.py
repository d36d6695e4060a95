"""`search_callers_for` and `search_importers_for` over MCP: exact, possible, complete, on disk."""

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_call_is_found_with_caller_file_line_and_reason(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="Order.total")
    [use] = [each for each in found["results"] if each["path"] == "src/orders/views.py"]
    assert use == {
        "score": 1.0,
        "path": "src/orders/views.py",
        "symbol": "show",
        "start_line": 5,
        "end_line": 5,
        "snippet": '5: return f"{order.total()} of {Order.limit}"',
        "certainty": "exact",
        "reason": "type of the receiver",
    }
    assert found["ok"]
    assert found["complete"]
    assert found["definitions"] == ["src/orders/models.py:11 Order.total"]
    assert found["exact"] + found["possible"] == found["total"] == len(found["results"])


async def test_an_unresolved_receiver_is_only_possible(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="Line.total")
    uses = {(use["path"], use["start_line"]): use["certainty"] for use in found["results"]}
    assert uses[("src/orders/models.py", 12)] == "possible"
    assert ("src/orders/views.py", 5) not in uses  # resolved to the other one


async def test_importers(engine: Engine) -> None:
    found = await engine.call("search_importers_for", query="Order")
    [use] = found["results"]
    assert (use["path"], use["start_line"], use["certainty"]) == ("src/orders/views.py", 1, "exact")
    assert found["complete"]


async def test_an_unknown_symbol_is_an_error_with_suggestions(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="Ordr")
    assert not found["ok"]
    assert "order" in str(found).lower()


@pytest.mark.parametrize("tool", ["search_callers_for", "search_importers_for", "symbol_graph"])
async def test_an_unknown_class_is_never_answered_by_another_ones_method(
    engine: Engine, tool: str
) -> None:
    found = await engine.call(tool, query="Invoice.total")
    assert not found["ok"]
    assert "'Invoice.total'" in found["error"]
    assert "Order.total, Line.total" in found["error"]


async def test_another_line_in_its_place_is_stale(engine: Engine) -> None:
    file = engine.workspace / "src/orders/views.py"
    before = file.read_text()
    try:
        file.write_text(before.replace("    return", "    # what an order costs\n    return"))
        found = await engine.call("search_callers_for", query="Order.total")
        [use] = [each for each in found["results"] if each["path"] == "src/orders/views.py"]
        assert use["stale"]
        assert use["snippet"] == "5: "
        file.write_text(before + "\n# the end\n")
        found = await engine.call("search_callers_for", query="Order.total")
        [use] = [each for each in found["results"] if each["path"] == "src/orders/views.py"]
        assert "stale" not in use
    finally:
        file.write_text(before)


async def test_the_text_is_short(engine: Engine) -> None:
    text = await engine.text("search_callers_for", query="Order.total")
    assert "1 exact" in text
    assert "src/orders/views.py\n5: return" in text


@pytest.mark.parametrize("tool", ["search_callers_for", "search_importers_for", "symbol_graph"])
async def test_an_unknown_name_is_an_error_of_its_own_argument(engine: Engine, tool: str) -> None:
    body = await engine.call(tool, symbol="no_such_name")
    assert body["details"]["field"] == "query"
    missing = await engine.call(tool)
    assert missing["error"] == "query: Missing required argument"
