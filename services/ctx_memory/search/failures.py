"""Reports parts of a search that failed, and how long a part took."""

import logging
import time

from ctx_core.errors import CtxError

log = logging.getLogger(__name__)

SCORE_DIGITS = 6  # more are noise


def failure_message(error: Exception, part: str) -> str:
    """Log the failure of a part of a search, and return the warning for the caller.

    The message of an unexpected error goes to the log only.
    """
    if isinstance(error, CtxError):
        log.warning("%s: %s", part, error)
        return f"{part}: {error.message}"
    log.error("%s failed", part, exc_info=error)
    return f"{part}: failed unexpectedly; the server's log has the details"


def elapsed_ms(start: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter()`."""
    return round((time.perf_counter() - start) * 1000, 2)
