"""Limits of the thread searches."""

import pytest

from ctx_core.errors import InvalidInput
from ctx_memory.threads.search_request import check_query, clamp_limit


def test_a_limit_is_clamped_and_that_is_said() -> None:
    assert clamp_limit(100) == (100, None)
    assert clamp_limit(101) == (100, {"requested": 101, "applied": 100})


@pytest.mark.parametrize("query", ["", " \n", "nul\x00", "half \ud800"])
def test_queries_that_cannot_be_asked(query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        check_query(query, 0)
