"""The id of the request that is being served, for log lines and traces."""

import re
from contextvars import ContextVar
from uuid import uuid4

HEADER = "x-request-id"
_ACCEPTED = re.compile(r"[A-Za-z0-9_.:-]{1,64}")  # what a proxy gives; no text of its own choice
LENGTH = 12  # of one of ours, enough to tell requests of a day apart

current: ContextVar[str] = ContextVar("ctx_request_id", default="")


def request_id(given: str | None) -> str:
    """Return the id that a proxy gave, where it is one, else a new one."""
    if given is not None and _ACCEPTED.fullmatch(given):
        return given
    return uuid4().hex[:LENGTH]
