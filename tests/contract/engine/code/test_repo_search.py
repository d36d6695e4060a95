"""`repo_search` through an MCP client: definitions, numbered lines, compact text, the disk."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN_CHARACTERS = 4


def found(hit: dict[str, Any]) -> tuple[str, str, int, int]:
    return hit["path"], hit["symbol"], hit["start_line"], hit["end_line"]


@pytest.mark.parametrize(
    ("name", "symbol", "lines"),
    [
        ("Order.cancel", "Order.cancel", (14, 15)),
        ("cancel", "Order.cancel", (14, 15)),
        ("Order", "Order", (6, 15)),
        ("Line.total", "Line.total", (19, 20)),
        ("MAX_LINES", "MAX_LINES", (3, 3)),
    ],
)
async def test_a_name_finds_its_own_definition(
    engine: Engine, name: str, symbol: str, lines: tuple[int, int]
) -> None:
    body = await engine.call("repo_search", query=name)
    assert found(body["results"][0]) == ("src/orders/models.py", symbol, *lines)


async def test_the_text_is_what_an_agent_reads(engine: Engine) -> None:
    text = await engine.text("repo_search", query="Order.cancel", limit=1)
    assert text.startswith(
        "src/orders/models.py:14-15 method Order.cancel\n"
        "14\t    def cancel(self) -> None:\n"
        '15\t        raise OrderError("orders.E028", self)\n'
    )


async def test_snippets_are_numbered_with_context_around(engine: Engine) -> None:
    body = await engine.call("repo_search", query="Order.cancel", context_lines=1)
    rows = body["results"][0]["snippet"].split("\n")
    assert [row.split("\t")[0] for row in rows] == ["13", "14", "15", "16"]
    shown = await engine.text("repo_search", query="Order.cancel", context_lines=2)
    assert "12\t        return sum(" in shown


@pytest.mark.parametrize(
    ("kind", "query", "expected"),
    [
        ("variable", "limit of lines", ("src/orders/models.py", "MAX_LINES", 3, 3)),
        ("import", "order", ("src/orders/views.py", "", 1, 1)),
        ("comment", "order of a customer", ("src/orders/models.py", "Order", 7, 7)),
        ("class", "order line", ("src/orders/models.py", "Line", 18, 20)),
        ("function", "show an order", ("src/orders/views.py", "show", 4, 5)),
    ],
)
async def test_kinds_filter_definitions(
    engine: Engine, kind: str, query: str, expected: tuple[str, str, int, int]
) -> None:
    body = await engine.call("repo_search", query=query, kind=kind, under="src/orders")
    assert expected in [found(hit) for hit in body["results"]]
    including = {"function": {"function", "method"}}.get(kind, {kind})
    assert {hit["metadata"]["kind"] for hit in body["results"]} <= including


async def test_a_symbol_filter_finds_each_definition_once(engine: Engine) -> None:
    body = await engine.call("repo_search", query="amount", symbol="Line.total")
    assert [found(hit)[1] for hit in body["results"]] == ["Line.total"]
    assert body["total"] == 1


@pytest.mark.parametrize(
    "query",
    ["retry policy", "order total", "Order", "how are failed calls retried", "total", "file"],
)
@pytest.mark.parametrize("per_path", [1, 2, 10])
async def test_total_is_true_on_the_first_page(engine: Engine, query: str, per_path: int) -> None:
    first = await engine.call("repo_search", query=query, limit=1, per_path=per_path)
    seen: list[tuple[str, str, int, int]] = []
    while len(seen) < first["total"]:
        page = await engine.call(
            "repo_search", query=query, limit=3, offset=len(seen), per_path=per_path
        )
        assert page["total"] == first["total"]
        assert page["results"]
        seen += [found(hit) for hit in page["results"]]
    assert len(set(seen)) == len(seen) == first["total"]
    beyond = await engine.call("repo_search", query=query, offset=len(seen), per_path=per_path)
    assert beyond["results"] == []


async def test_results_come_in_the_order_of_their_score(engine: Engine) -> None:
    body = await engine.call("repo_search", query="retry policy", limit=20)
    scores = [hit["score"] for hit in body["results"]]
    assert scores == sorted(scores, reverse=True)


async def test_ten_results_are_short(engine: Engine) -> None:
    arguments: dict[str, Any] = {"query": "retry a connection", "limit": 10, "per_path": 5}
    text = await engine.text("repo_search", **arguments)
    assert len(text) / TOKEN_CHARACTERS < 1_500
    assert "score" not in text


async def test_scores_are_explained_on_request(engine: Engine) -> None:
    [plain] = (await engine.call("repo_search", query="retry", limit=1))["results"]
    [explained] = (await engine.call("repo_search", query="retry", limit=1, explain=True))[
        "results"
    ]
    assert "rules" not in plain["components"]
    assert {"fusion", "name_match"} <= explained["components"]["rules"].keys()
    assert explained["metadata"]["repo"]


@pytest.mark.parametrize("size", [1, 3])
async def test_total_is_what_can_be_paged_to(engine: Engine, size: int) -> None:
    asked: dict[str, Any] = {"query": "order total", "language": "python", "per_path": 5}
    every = await engine.call("repo_search", limit=100, **asked)
    assert every["total"] == len(every["results"]) > size
    pages = []
    for offset in range(0, every["total"] + size, size):
        page = await engine.call("repo_search", limit=size, offset=offset, **asked)
        assert page["total"] == every["total"]
        pages += [found(hit) for hit in page["results"]]
    assert pages == [found(hit) for hit in every["results"]]
    text = await engine.text("repo_search", limit=1, offset=1, **asked)
    assert f"{every['total'] - 2} more from offset=2" in text


async def test_a_changed_file_is_located_anew(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/models.py"
    before = file.read_text()
    try:
        file.write_text("# new\n# lines\n" + before.replace("orders.E028", "orders.E029"))
        body = await engine.call("repo_search", query="Order.cancel", context_lines=0)
        hit = body["results"][0]
        assert found(hit) == ("src/orders/models.py", "Order.cancel", 16, 17)
        assert "orders.E029" in hit["snippet"]
        assert "stale" not in hit
        assert "the index is behind" in body["warnings"][0]
        assert "qdrant_index" in body["warnings"][0]
    finally:
        file.write_text(before)


async def test_what_is_not_there_any_more_is_stale(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/models.py"
    before = file.read_text()
    try:
        file.write_text("OTHER = 1\n")
        body = await engine.call("repo_search", query="Order.cancel", limit=1)
        [hit] = body["results"]
        assert hit["stale"] is True
        assert "changed" in hit["stale_reason"]
        assert "(stale:" in await engine.text("repo_search", query="Order.cancel", limit=1)
    finally:
        file.write_text(before)


async def test_a_vanished_file_is_left_out_and_said(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/orders/models.py"
    before = file.read_text()
    try:
        file.unlink()
        body = await engine.call("repo_search", query="Order.cancel")
        assert "src/orders/models.py" not in {hit["path"] for hit in body["results"]}
        assert "1 are gone" in body["warnings"][0]
    finally:
        file.write_text(before)


async def test_a_touched_file_is_not_behind(engine: Engine, workspace: Path) -> None:
    (workspace / "src/orders/models.py").touch()
    body = await engine.call("repo_search", query="Order.cancel", limit=1)
    assert "warnings" not in body


async def test_the_alias_answers_alike(engine: Engine) -> None:
    one = await engine.call("repo_search", query="Order.cancel")
    other = await engine.call("code_search", query="Order.cancel")
    assert one["results"] == other["results"]


async def test_every_definition_is_found_by_its_name(engine: Engine) -> None:
    """Name and first line, of every function, class and method of the workspace's code."""
    files = await engine.call("exact_search", pattern="(def|class|function) ", regex=True)
    paths = [file["path"] for file in files["results"]]
    listed = [
        row
        for path in paths
        for row in (await engine.call("read_code", path=path, outline=True))["definitions"]
        if row["kind"] in {"function", "method", "class"}
    ]
    assert len(listed) > 15
    for row in listed:
        body = await engine.call("repo_search", query=row["symbol"])
        assert (row["path"], row["symbol"], row["start_line"]) in [
            found(hit)[:3] for hit in body["results"]
        ], row


async def test_an_error_code_finds_only_the_places_that_hold_it(engine: Engine) -> None:
    body = await engine.call("repo_search", query="orders.E028")
    assert [hit["symbol"] for hit in body["results"]] == ["Order.cancel"]
    assert body["total"] == 1
    assert body["left_out"].endswith(" without orders.E028")


async def test_a_name_that_no_hit_holds_is_told(engine: Engine) -> None:
    text = await engine.text("repo_search", query="frobnicate_orders")
    assert text.endswith(
        "none of these holds frobnicate_orders; exact_search tells whether any file does"
    )
    for known in ("MAX_LINES", "Order.cancel", "charge_customer", "where is MAX_LINES used"):
        assert "none of these holds" not in await engine.text("repo_search", query=known)


async def test_other_places_of_a_file_are_counted(engine: Engine, workspace: Path) -> None:
    file = workspace / "src/parcels.py"
    file.write_text(
        "".join(
            f"def weigh_parcel_{n}(parcel):\n"
            + "".join(f"    parcel.weigh({n}, {line})\n" for line in range(30))
            + "\n\n"
            for n in range(12)
        )
    )
    try:
        await engine.call("qdrant_index")
        text = await engine.text("repo_search", query="weigh a parcel", per_path=1)
        [line] = [row for row in text.split("\n") if " more in this file: " in row]
        count, names = line.split(" more in this file: ")
        *named, rest = names.split(", ")
        assert int(count) == len(named) + int(rest.removeprefix("and ").removesuffix(" more"))
    finally:
        file.unlink()
        await engine.call("qdrant_index")
