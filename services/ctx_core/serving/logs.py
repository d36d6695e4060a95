"""Logging of every process: to standard error, as text or as one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from ctx_core.serving import request_id

LogFormat = Literal["text", "json"]
TEXT_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(request)s%(message)s"
# Loggers that report each request and each mistake of a client, as responses and metrics do too.
NOISY_LOGGERS = (
    "fastmcp",
    "mcp",
    "httpx",
    "httpx2",
    "httpcore",
    "uvicorn",
    "sse_starlette",
    "alembic",
)
# What libraries log with a traceback where a client goes away; by name, to import no web library.
HANGUP = "ClientDisconnect"
FIELDS = "fields"  # the key of a record's `extra` whose entries a JSON line has


def configure_logging(level: str, form: LogFormat = "text") -> None:
    """Log to standard error at this level: standard output belongs to stdio clients."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else _TextFormatter(TEXT_FORMAT))
    handler.addFilter(_is_no_hangup)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in NOISY_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.DEBUG if level == "debug" else logging.ERROR)


def _is_no_hangup(record: logging.LogRecord) -> bool:
    """Whether a record is about more than a client that went away in the midst of its request."""
    raised = record.exc_info[1] if record.exc_info else None
    return type(raised).__name__ != HANGUP


class _TextFormatter(logging.Formatter):
    """Formats a line for a person, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        current = request_id.current.get()
        record.request = f"[{current}] " if current else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """Formats a line as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current := request_id.current.get():
            line["request_id"] = current
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line | getattr(record, FIELDS, {}), default=str)
