"""Comparing specs: pure, so every case is a line."""

from dataclasses import replace

import pytest

from ctx_core.errors import InvalidInput, ModelMismatch
from ctx_core.vectors.spec_check import (
    check_spec,
    has_vectors,
    rebuild_command,
    spec_problem,
)
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, IndexKind, hybrid_spec

EXPECTED = hybrid_spec(
    EmbeddingModel("tiny", 4),
    {"lang": IndexKind.KEYWORD},
    purpose="samples",
    rebuild_command="rebuild {collection}",
    model_setting="SAMPLE_MODEL",
)


@pytest.mark.parametrize(
    "stored",
    [
        EXPECTED,
        replace(EXPECTED, indexes={}),
        replace(EXPECTED, model=None),
        replace(EXPECTED, rebuild_command="another", model_setting=""),
        replace(EXPECTED, dense={"dense": 4, "more": 2}, sparse=("more", "bm25")),
    ],
)
def test_a_fit_collection_passes(stored: CollectionSpec) -> None:
    check_spec("c", stored, EXPECTED)
    assert spec_problem("c", stored, EXPECTED) is None


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (
            replace(EXPECTED, model=EmbeddingModel("large", 8)),
            "was built with model large (8 dims), the configured one is tiny (4 dims); rebuild it "
            "with: rebuild c, or set SAMPLE_MODEL back to large",
        ),
        (replace(EXPECTED, purpose=""), "an earlier version of ctx, or another program, built it"),
        (
            replace(EXPECTED, dense={"dense": 8}),
            "has dense values of 8 dims for the vector 'dense'",
        ),
        (
            replace(EXPECTED, sparse=("lex",)),
            "has nothing for the vector 'bm25', and sparse values",
        ),
    ],
)
def test_a_collection_to_rebuild_is_a_mismatch(stored: CollectionSpec, message: str) -> None:
    with pytest.raises(ModelMismatch) as raised:
        check_spec("c", stored, EXPECTED)
    assert message in raised.value.message
    assert "rebuild it with: rebuild c" in raised.value.message
    assert spec_problem("c", stored, EXPECTED) == raised.value.message


def test_another_purpose_is_never_rebuilt() -> None:
    stored = replace(EXPECTED, purpose="recipes", model=EmbeddingModel("large", 8))
    with pytest.raises(InvalidInput, match="'c' holds recipes, not samples"):
        check_spec("c", stored, EXPECTED)


def test_a_caller_without_purpose_compares_the_rest() -> None:
    check_spec("c", EXPECTED, replace(EXPECTED, purpose=""))


def test_vectors_are_compared_by_name() -> None:
    assert has_vectors(replace(EXPECTED, dense={"dense": 8}), EXPECTED)
    assert not has_vectors(replace(EXPECTED, sparse=("lex",)), EXPECTED)
    assert not has_vectors(replace(EXPECTED, dense={}), EXPECTED)


def test_the_command_names_the_collection() -> None:
    assert rebuild_command("my.code", EXPECTED) == "rebuild my.code"
    assert rebuild_command("my.code", CollectionSpec()) == ""
