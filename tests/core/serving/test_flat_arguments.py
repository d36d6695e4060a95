"""Arguments that tools share become parameters of their own."""

import inspect
from dataclasses import dataclass

from ctx_core.serving.flat_arguments import flat_arguments


@dataclass(frozen=True)
class Page:
    limit: int = 5
    offset: int = 0


@flat_arguments
async def find(query: str, asked: Page, offset: int = 7) -> str:
    """Find."""
    return f"{query} {asked.limit} {asked.offset} {offset}"


def test_fields_stand_where_the_dataclass_stood_and_parameters_go_before_them() -> None:
    parameters = inspect.signature(find).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        "query": inspect.Parameter.empty,
        "limit": 5,
        "offset": 7,
    }
    assert find.__annotations__ == {"query": str, "limit": int, "offset": int, "return": str}


async def test_a_call_gathers_the_fields() -> None:
    assert await find(query="jitter", limit=3) == "jitter 3 0 7"
    assert await find(query="jitter", offset=2) == "jitter 5 0 2"
