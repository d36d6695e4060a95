"""Cutting a sequence into batches."""

import pytest

from ctx_core.batches import batches


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7])
def test_every_item_comes_once_and_in_order(count: int) -> None:
    items = list(range(count))
    found = list(batches(items, 3))
    assert [item for batch in found for item in batch] == items
    assert all(len(batch) == 3 for batch in found[:-1])
    assert all(found)
