"""How every command tells an error."""

import json
import sys

from services.core.errors import CtxError, serialise


def complain(error: CtxError, *, as_json: bool) -> None:
    """To standard error: one line for people, the contract's body for scripts."""
    print(json.dumps(serialise(error)) if as_json else f"ctx: {error}", file=sys.stderr)
