"""Logging of every process: to standard error, in one format."""

import logging
import sys

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Loggers that report each request and each mistake of a client, as responses and metrics do too.
NOISY_LOGGERS = ("fastmcp", "mcp", "httpx", "httpx2", "httpcore", "uvicorn", "sse_starlette")


def configure_logging(level: str) -> None:
    """Log to standard error at this level: standard output belongs to stdio clients."""
    logging.basicConfig(level=level.upper(), format=LOG_FORMAT, stream=sys.stderr, force=True)
    for name in NOISY_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.DEBUG if level == "debug" else logging.ERROR)
