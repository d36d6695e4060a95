"""Waits a moment after a write, so that the next search sees it."""

import asyncio
import logging
from collections.abc import Sequence

from services.core.errors import CtxError
from services.memory.projection.outbox import Outbox

log = logging.getLogger(__name__)

SETTLE_SECONDS = 2.0  # longer than Qdrant takes, short enough to wait for


async def wait_until_searchable(outbox: Outbox, uuids: Sequence[str] | None) -> str | None:
    """Wait for the vectors of what was written; the reason when they have to come later."""
    drain = asyncio.ensure_future(outbox.drain(uuids))
    try:
        await asyncio.wait_for(asyncio.shield(drain), SETTLE_SECONDS)
    except TimeoutError:
        drain.add_done_callback(_log_outcome)
        return f"Qdrant did not answer within {SETTLE_SECONDS:g} s; it will be tried again"
    except CtxError as error:
        log.warning("vectors were not written: %s", error)
        return error.message
    return next((outbox.problems[uuid] for uuid in uuids or () if uuid in outbox.problems), None)


def _log_outcome(drain: "asyncio.Future[None]") -> None:
    if not drain.cancelled() and (error := drain.exception()) is not None:
        log.warning("vectors were not written: %s", error)
