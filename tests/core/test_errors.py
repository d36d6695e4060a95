"""Error bodies and codes."""

from ctx_core.errors import CtxError, InvalidInput, RateLimited, RemoteFailed, error_body

CONTRACT_CODES = {
    "VALIDATION_ERROR",
    "COLLECTION_NOT_FOUND",
    "INDEXING_ERROR",
    "SEARCH_ERROR",
    "DECODER_ERROR",
    "TIMEOUT_ERROR",
    "RATE_LIMIT_ERROR",
}


def test_the_contract_body() -> None:
    assert error_body(InvalidInput("query", "Query cannot be empty")) == {
        "ok": False,
        "error": "query: Query cannot be empty",
        "error_code": "VALIDATION_ERROR",
        "details": {"field": "query", "message": "Query cannot be empty"},
    }


def test_details_are_kept() -> None:
    assert error_body(RateLimited("slow down", retry_after_seconds=2))["details"] == {
        "retry_after_seconds": 2
    }


def test_every_contract_code_has_an_error() -> None:
    assert {error.code for error in CtxError.__subclasses__()} >= CONTRACT_CODES


def test_an_error_of_another_server_keeps_its_code() -> None:
    body = error_body(InvalidInput("limit", "too large"))
    assert error_body(RemoteFailed(body)) == body
