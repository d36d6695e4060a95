"""Errors as HTTP responses."""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from ctx_core.errors import CtxError, error_body


def error_response(
    error: CtxError, status: int, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the contract's error body with a status code."""
    return JSONResponse(error_body(error), status_code=status, headers=headers)
