"""Errors for clients name no URL, no user and no host."""

import pytest

from ctx_core.errors import InvalidInput, StorageFailed, error_body
from ctx_core.serving.disclosure import public_body, without_addresses


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Qdrant at http://u:p@10.0.0.7:6333 failed: x", "Qdrant at <address> failed: x"),
        ("Could not read in postgresql://bob@db.local/ctx: gone", "read in <address>: gone"),
        ("connect call failed ('10.0.0.7', 5432)", "('<address>', 5432)"),
        ("git@host.example: denied", "<address>: denied"),
        ("see (https://host.example/x).", "see (<address>)."),
        ("10.0.0.7:6333 refused", "<address> refused"),
        ("version 1.2.3.4-beta of 3.11", "version 1.2.3.4-beta of 3.11"),
    ],
)
def test_addresses_are_marked(text: str, shown: str) -> None:
    assert shown in without_addresses(text)


def test_details_are_cleaned_too() -> None:
    error = StorageFailed("Qdrant at http://x failed", url="http://x", tried=["http://y", "z"])
    body = public_body(error, error_body(error))
    assert body["details"] == {"tried": ["<address>", "z"]}
    assert body["error"] == "Qdrant at <address> failed"


def test_the_callers_own_words_stay() -> None:
    error = InvalidInput("url", "https://my.example is no folder")
    assert public_body(error, error_body(error)) == error_body(error)
