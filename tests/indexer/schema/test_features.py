"""Rank features survive being stored."""

from ctx_indexer.schema.features import ChunkLocation, compute_features, decode_features
from ctx_indexer.source.classify import NO_FLAGS, FileFlags

LOCATION = ChunkLocation("r", "src/retry_policies.py", 1)


def test_names_become_words_and_stems() -> None:
    found = compute_features(
        LOCATION,
        kind="function",
        symbol="maxRetries",
        symbol_path="maxRetries",
        symbols=["max_retries"],
        flags=NO_FLAGS,
    )
    assert found.file_words == ("retry", "policies")
    assert found.symbol_words == ("max", "retries")
    assert found.name_terms == {"max", "retri", "max_retries"}


def test_encoding_loses_nothing() -> None:
    found = compute_features(
        ChunkLocation("r", "legacy/thing.py", 7),
        kind="class",
        symbol="a b",
        symbol_path="x.a b",
        symbols=["a b", 'quo"te', "ünï"],
        flags=FileFlags(is_test=True, is_docs=True, is_vendored=True),
    )
    assert found.is_low_priority
    assert decode_features("r", "legacy/thing.py", found.encode()) == found
