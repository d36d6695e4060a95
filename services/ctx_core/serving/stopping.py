"""The end of a process that was asked to stop: in order, or by force when that takes too long."""

import faulthandler
import logging
import os
import threading

from ctx_core.git.process import stop_all

log = logging.getLogger(__name__)

CLOSE_SECONDS = 15.0  # to write back and close stores after the grace of running calls
EXIT_FORCED = 3

_is_ending = threading.Event()


def end_within(seconds: float) -> None:
    """End the process by force after so many seconds, whatever hangs; only the first call counts.

    Nothing that was acknowledged is lost: stores survive a crash as well.
    """
    if not _is_ending.is_set():
        _is_ending.set()
        timer = threading.Timer(seconds, _end_by_force)
        timer.daemon = True
        timer.start()


def _end_by_force() -> None:
    log.critical("the process did not end in time and is ended now; its threads were at:")
    faulthandler.dump_traceback()
    stop_all()
    logging.shutdown()
    os._exit(EXIT_FORCED)
