"""`search_tests_for` and `search_config_for` over MCP."""

from pathlib import Path

import pytest

from tests.contract.engine.code.conftest import Engine
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = ("ok", "results", "total", "used_rerank", "search_time_ms", "query")  # of repo_search
SHOP = {
    "src/orders.py": '''class Order:
    """An order of a customer."""

    def total(self) -> int:
        return sum(self.prices)


def discount(order: Order) -> int:
    return order.total() // 10


def unused() -> None:
    """Orders that nobody tests."""
''',
    "src/test_runner.sh": "run_orders() {\n  echo order total\n}\n",
    "tests/test_orders.py": """from src.orders import Order, discount


def test_the_total_of_an_order() -> None:
    order = Order()
    assert order.total() == 3


def test_a_discount(order) -> None:
    assert discount(order) == 1
    assert order.total() == 10


def test_something_else() -> None:
    assert True
""",
    "native/src/lib.rs": """/// The total of an order.
pub fn order_total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_an_order() {
        assert_eq!(order_total(&[1, 2]), 3);
    }
}
""",
    "config/orders.yaml": "orders:\n  total:\n    currency: EUR\n",
    "settings.toml": "[orders]\nlimit = 3\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = Repository.create(tmp_path_factory.mktemp("purposes") / "shop")
    for name, text in SHOP.items():
        (repository.root / name).parent.mkdir(parents=True, exist_ok=True)
        (repository.root / name).write_text(text)
    repository.git("add", "-A")
    return repository.root


async def test_words_find_tests_only(engine: Engine) -> None:
    found = await engine.call("search_tests_for", query="total of an order")
    assert {hit["path"] for hit in found["results"]} == {
        "tests/test_orders.py",
        "native/src/lib.rs",
    }
    [inline] = [hit for hit in found["results"] if hit["path"] == "native/src/lib.rs"]
    assert inline["start_line"] >= 6
    plain = await engine.call("repo_search", query="total of an order", limit=1)
    assert set(plain["results"][0]) == set(found["results"][0])
    assert set(plain) == set(found)


async def test_a_symbol_finds_the_test_functions_that_call_it(engine: Engine) -> None:
    found = await engine.call("search_tests_for", query="Order.total")
    certainties = {hit["symbol"]: hit["certainty"] for hit in found["results"]}
    assert certainties == {"test_the_total_of_an_order": "exact", "test_a_discount": "possible"}
    assert (found["exact"], found["possible"], found["complete"]) == (1, 1, True)
    assert found["definitions"] == ["src/orders.py:4 Order.total"]
    first = found["results"][0]
    assert (first["start_line"], first["end_line"]) == (4, 6)
    assert "6\t    assert order.total() == 3" in first["snippet"]
    text = await engine.text("search_tests_for", query="Order.total")
    assert text.startswith("1 exact, 1 possible (complete) tests of src/orders.py:4 Order.total\n")
    assert "tests/test_orders.py:4-6 function test_the_total_of_an_order [exact, line 6:" in text


async def test_a_symbol_that_no_test_calls_says_so(engine: Engine) -> None:
    found = await engine.call("search_tests_for", query="unused")
    assert "no test calls unused" in found["warnings"][0]
    assert "exact" not in found


async def test_configuration(engine: Engine) -> None:
    found = await engine.call("search_config_for", query="orders")
    paths = {hit["path"] for hit in found["results"]}
    assert paths == {"config/orders.yaml", "settings.toml"}
    narrowed = await engine.call("search_config_for", query="orders", under="config", compact=True)
    assert [hit["path"] for hit in narrowed["results"]] == ["config/orders.yaml"]
    assert "snippet" not in narrowed["results"][0]


@pytest.mark.parametrize("name", ["ORDERS_TIMEOUT", "retryCount", "X-Order-Limit"])
async def test_a_setting_that_no_configuration_holds_is_said_without_files(
    engine: Engine, name: str
) -> None:
    found = await engine.call("search_config_for", query=name)
    assert (found["ok"], found["results"], found["total"]) == (True, [], 0)
    assert set(found) == {*KEYS, "warnings"}
    text = await engine.text("search_config_for", query=name)
    said = f"no configuration file holds {name}; exact_search tells whether any file does"
    assert (found["warnings"], text) == ([said], said)


@pytest.mark.parametrize("name", ["total_currency", "totalCurrency", "ORDERS_YAML"])
async def test_a_setting_is_known_in_other_spellings(engine: Engine, name: str) -> None:
    found = await engine.call("search_config_for", query=name)
    assert found["results"], found


async def test_a_name_in_a_question_that_no_hit_holds_is_said_first(engine: Engine) -> None:
    text = await engine.text("search_config_for", query="limit of orders by ORDERS_TIMEOUT")
    assert text.startswith("none of these holds ORDERS_TIMEOUT")
    assert "settings.toml" in text


@pytest.mark.parametrize("tool", ["search_tests_for", "search_config_for"])
async def test_wrong_values_name_their_field(engine: Engine, tool: str) -> None:
    for field, value in {"language": "pythn", "limit": 0, "under": "nowhere"}.items():
        body = await engine.call(tool, query="total of an order", **{field: value})
        assert body["error_code"] == "VALIDATION_ERROR"
        assert body["details"]["field"] == field
