"""What every command prints: results as text or JSON, errors with an exit code."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from services.core.errors import CtxError, InvalidInput, SettingsInvalid, error_body

FAILED = 1
WRONG_USE = 2
# Codes, not types: an error that a running server answers keeps its code only.
WRONG_USE_CODES = (InvalidInput.code, SettingsInvalid.code)


def show(
    body: Mapping[str, Any], text: Callable[[Mapping[str, Any]], str], *, as_json: bool
) -> None:
    """Print a result: its JSON, or the text made of it."""
    print(json.dumps(body, indent=2) if as_json else text(body))


def show_error(error: CtxError, *, as_json: bool) -> None:
    """Print an error to standard error: one line, or the contract's body."""
    print(json.dumps(error_body(error)) if as_json else f"ctx: {error}", file=sys.stderr)


def show_note(text: str) -> None:
    """Print a line to standard error that belongs to no result."""
    print(f"ctx: {text}", file=sys.stderr)


def exit_code(error: CtxError) -> int:
    """Return 2 for wrong arguments or settings, 1 for any other error."""
    return WRONG_USE if error.code in WRONG_USE_CODES else FAILED
