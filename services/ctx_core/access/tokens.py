"""Accepts bearer tokens: those of the settings, and those of the file as it is at the moment."""

import hmac
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.access.grant import FULL, Grant
from ctx_core.access.token import KeptToken, digest
from ctx_core.access.token_file import read_tokens
from ctx_core.blocking import DISK
from ctx_core.clock import utc_now
from ctx_core.errors import SettingsInvalid

log = logging.getLogger(__name__)

REREAD_SECONDS = 1.0  # a token that is revoked is accepted for at most so long

Signature = tuple[int, int, int] | None  # of a file: when it changed, its size, its number


@dataclass(frozen=True)
class Accepted:
    """The grant of a token, and its digest; `may_end` where it can expire or be revoked."""

    grant: Grant
    sha256: str
    may_end: bool


class Tokens:
    """The tokens that are in force; without any, nobody is asked for one.

    Once there was a file, its absence accepts nobody instead of everybody.
    """

    def __init__(self, full: Sequence[str], file: Path, *, required: bool = False) -> None:
        """Reads the file. Blocks."""
        self._full = [digest(token.encode()) for token in full]
        self._file = file
        self._required = required or bool(full)
        self._kept: Sequence[KeptToken] = ()
        self._signature: Signature = None
        self._read()
        self._read_at = time.monotonic()

    async def in_force(self) -> bool:
        """Whether a request needs a token."""
        await self._refresh()
        return self._required

    async def accept(self, given: bytes) -> Accepted | None:
        """Return the grant of a token, None for an unknown, revoked or expired one.

        Its digest is compared with every other in constant time, also after a match.
        """
        await self._refresh()
        sha256 = digest(given)
        if [each for each in self._full if hmac.compare_digest(each, sha256)]:
            return Accepted(FULL, sha256, may_end=False)
        now = utc_now()
        kept = [each for each in self._kept if hmac.compare_digest(each.sha256, sha256)]
        valid = [each for each in kept if each.is_valid(now)]
        return Accepted(valid[0].grant, sha256, may_end=True) if valid else None

    async def still_accepts(self, accepted: Accepted) -> bool:
        """Whether a token that was accepted has neither expired nor been revoked since."""
        await self._refresh()
        now = utc_now()
        same = [each for each in self._kept if each.sha256 == accepted.sha256]
        return any(each.is_valid(now) for each in same)

    async def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._read_at < REREAD_SECONDS:
            return
        self._read_at = now
        await DISK.run(self._read)

    def _read(self) -> None:
        """Read the file where it changed. A file that is no file of tokens accepts nobody."""
        signature = _signature(self._file)
        if signature == self._signature:
            return
        self._signature = signature
        self._required = True
        try:
            self._kept = read_tokens(self._file)
            log.info("%d tokens in %s", len(self._kept), self._file)
        except SettingsInvalid as error:
            self._kept = ()
            log.error("no token of the file is accepted: %s", error)


def _signature(file: Path) -> Signature:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
