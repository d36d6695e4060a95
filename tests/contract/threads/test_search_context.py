"""`search_context`: entries by filters alone."""

import pytest

from tests.support.contract import Thread
from tests.support.thread_samples import sample_number

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_browsing_shows_the_newest_first(filled: Thread) -> None:
    body = await filled.search()
    assert [sample_number(hit) for hit in body["results"]] == [3, 2, 1, 0]
