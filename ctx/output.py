"""What every command prints: results as text or JSON, errors, notes, questions; and to where."""

import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import click

from ctx.exit_code import Exit
from ctx_core.errors import CtxError, NotPermitted, StorageFailed, error_body

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))  # by their descriptors
OUTPUT = 1  # the descriptor of standard output


def show(
    body: Mapping[str, Any], text: Callable[[Mapping[str, Any]], str], *, as_json: bool
) -> None:
    """Print a result: its JSON, which always has `ok`, or the text made of it."""
    print(json.dumps({"ok": "error" not in body, **body}, indent=2) if as_json else text(body))


def show_error(error: CtxError, *, as_json: bool) -> None:
    """Print an error to standard error: one line, or the contract's body."""
    print(json.dumps(error_body(error)) if as_json else f"ctx: {error}", file=sys.stderr)


def show_note(text: str) -> None:
    """Print a line to standard error that belongs to no result."""
    print(f"ctx: {text}", file=sys.stderr)


def can_ask(*, as_json: bool) -> bool:
    """Whether somebody can answer a question."""
    return not as_json and sys.stdin.isatty()


def confirm(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something is destroyed. Raises NotPermitted unless the answer is yes."""
    if yes:
        return
    if not can_ask(as_json=as_json):
        raise NotPermitted(f"{question} Nobody can answer here: add --yes to do it.")
    if not click.confirm(question, err=True):
        raise NotPermitted("Nothing was changed.")


class CheckedOutput(io.FileIO):
    """Standard output that ends the command, whichever one it is, where it cannot be written."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__(OUTPUT, "w", closefd=False)
        self._as_json = as_json

    def write(self, data: Any, /) -> int:
        """Write bytes. Raises SystemExit where the reader has left, or nothing can be kept."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self._end(Exit.READER_LEFT)
        except OSError as error:
            why = error.strerror or error
            failed = StorageFailed(f"Standard output cannot be written: {why}. Write it elsewhere.")
            show_error(failed, as_json=self._as_json)
            self._end(Exit.FAILED)

    def _end(self, code: Exit) -> NoReturn:
        """Drop what is still to be written, so that the interpreter's own flush succeeds."""
        _discard(OUTPUT)
        raise SystemExit(int(code))


def check_streams(words: Sequence[str]) -> None:
    """Open the streams that the caller closed as empty ones, and check what output takes.

    A terminal stays as it is: it cannot be full, and its reader leaves with a signal.
    """
    for descriptor, (name, mode) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            _discard(descriptor)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if sys.stdout.isatty():
        return
    plain = sys.stdout
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(CheckedOutput(as_json="--json" in words)),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=bool(plain.line_buffering),
    )


def _discard(descriptor: int) -> None:
    """Make a descriptor that of the null device; else the next file opened may take its number."""
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing == descriptor:
        os.set_inheritable(descriptor, True)
        return
    os.dup2(nothing, descriptor)
    os.close(nothing)
