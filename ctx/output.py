"""What every command prints: results as text or JSON, errors, notes, questions."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from services.core.errors import CtxError, NotPermitted, error_body


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
