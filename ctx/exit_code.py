"""The exit codes of every command, which scripts rely on."""

from collections.abc import Mapping
from enum import IntEnum

from ctx_core.errors import (
    CtxError,
    EntryNotFound,
    InvalidInput,
    NotPermitted,
    SettingsInvalid,
)


class Exit(IntEnum):
    """What a command's end means."""

    DONE = 0
    NO = 1  # nothing is found, or what was asked is not so; each command says which
    WRONG_USE = 2
    FAILED = 3
    REFUSED = 4
    INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended
    READER_LEFT = 141  # and for one whose reader closed the pipe early, as `head` does


MEANINGS: Mapping[Exit, str] = {
    Exit.DONE: "done",
    Exit.NO: "nothing is found, or the answer is no",
    Exit.WRONG_USE: "wrong arguments or settings",
    Exit.FAILED: "failed; the message says why, and what to do",
    Exit.REFUSED: "refused: not permitted, or not confirmed",
    Exit.INTERRUPTED: "interrupted",
    Exit.READER_LEFT: "nobody reads the output any more, as with `| head`",
}
# Codes, not types: an error that a running server answers keeps its code only.
BY_ERROR_CODE: Mapping[str, Exit] = {
    InvalidInput.code: Exit.WRONG_USE,
    SettingsInvalid.code: Exit.WRONG_USE,
    EntryNotFound.code: Exit.NO,
    NotPermitted.code: Exit.REFUSED,
}


def exit_code(error: CtxError) -> Exit:
    """Return the exit code of a command that an error ended."""
    return BY_ERROR_CODE.get(error.code, Exit.FAILED)
