"""Tells the command line of the user who runs a server from other clients, by a file's content."""

import hmac
import logging
import os
import secrets
from pathlib import Path

log = logging.getLogger(__name__)

FILE = "owner.token"  # of the data folder; only its user can read it
HEADER = "X-Ctx-Owner"  # a command of the owner, who may also do what no client may
LOCAL_HEADER = "X-Ctx-Local"  # a client that the owner started, in place of a bearer token
NAME = "owner"  # what rate limits and sessions know both by
TOKEN_BYTES = 32


def read_owner_token(data_dir: Path) -> str | None:
    """Return the token, None where there is none that we may read. Blocks."""
    try:
        return (data_dir / FILE).read_text().strip() or None
    except OSError:
        return None


def ensure_owner_token(data_dir: Path) -> str | None:
    """Return the token, made by the first server of a data folder; None where it cannot be. Blocks.

    Without it the command line may do what other clients may.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        file = os.open(data_dir / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_owner_token(data_dir)
    except OSError as error:
        log.warning("ctx index works inside CTX_WORKSPACE only: %s cannot be made: %s", FILE, error)
        return None
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with os.fdopen(file, "w") as opened:
        opened.write(token)
    return token


def is_owner(given: str | None, token: str | None) -> bool:
    """Whether a request was sent by the server's own user."""
    if given is None or token is None:
        return False
    return hmac.compare_digest(given.encode(), token.encode())
