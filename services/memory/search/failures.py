"""Messages about a part of a search that failed, and how long a part took."""

import logging
import time

from services.core.errors import CtxError

log = logging.getLogger(__name__)

DIGITS = 6  # of scores: more are noise


def told(error: Exception, part: str) -> str:
    """What a warning says about a part that failed; what was not foreseen goes to the log."""
    if isinstance(error, CtxError):
        log.warning("%s: %s", part, error)
        return f"{part}: {error.message}"
    log.error("%s failed", part, exc_info=error)
    return f"{part}: failed unexpectedly; the server's log has the details"


def milliseconds(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 2)
