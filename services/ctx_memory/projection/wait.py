"""Waits after a write until the entries can be searched."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from ctx_core.errors import CtxError
from ctx_memory.projection.outbox import Outbox, reason

log = logging.getLogger(__name__)

MAX_WAIT_SECONDS = 2.0  # longer than Qdrant takes, short enough for a caller to wait


async def wait_until_searchable(outbox: Outbox, uuids: Sequence[str] | None) -> str | None:
    """Wait until the points of these entries are written, or all that are due where None.

    Returns the reason where they come later: the entries are stored in SQL either way.
    """
    drain = asyncio.ensure_future(outbox.drain(uuids))
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await asyncio.shield(drain)
    except TimeoutError:
        outbox.late_drains += 1  # until it ends searches ask SQL for words
        drain.add_done_callback(partial(_end_late, outbox))
        return f"vectors take longer than {MAX_WAIT_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - whatever it is, the entries are stored
        _log(error)
        return reason(error)
    return next((outbox.problems[uuid] for uuid in uuids or () if uuid in outbox.problems), None)


def _end_late(outbox: Outbox, drain: "asyncio.Future[None]") -> None:
    outbox.late_drains -= 1
    if not drain.cancelled() and (error := drain.exception()) is not None:
        _log(error)


def _log(error: BaseException) -> None:
    """Log why vectors were not written, with the place where that is not foreseen."""
    unexpected = None if isinstance(error, CtxError) else error
    log.warning("vectors were not written: %s", error, exc_info=unexpected)
