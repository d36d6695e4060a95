"""Names of physical collections."""

import pytest

from ctx_core.errors import InvalidInput
from ctx_core.vectors.generations import is_generation, logical_name, new_generation
from ctx_core.vectors.validation import check_collection_name


def test_a_generation_is_new_and_belongs_to_its_name() -> None:
    first, second = new_generation("code"), new_generation("code")
    assert first != second
    assert logical_name(first) == logical_name(second) == "code"
    assert is_generation(first, "code")
    assert not is_generation(first, "cod")


@pytest.mark.parametrize("name", ["code", "code@live", "code@xyz", "code@123", "@12345678"])
def test_other_names_are_their_own(name: str) -> None:
    assert logical_name(name) == name
    assert not is_generation(name, "code")


def test_a_generation_cannot_be_a_collection_name() -> None:
    with pytest.raises(InvalidInput):
        check_collection_name(new_generation("code"))
