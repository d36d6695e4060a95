"""A token as it is kept: its digest, never itself."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ctx_core.access.grant import SCOPES, Grant, Limits
from ctx_core.clock import utc_now

PREFIX = "ctx_"  # tells people and scanners of secrets that it is one of ours
SECRET_BYTES = 32
ID_BYTES = 4
MAX_NAMES = 200  # of collections or projects in one token

Name = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]+$")]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_NAMES)]
ScopeWord = Literal["read", "write", "admin"]


class KeptLimits(BaseModel):
    """The collections and projects that a token is limited to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collections: Names = ()
    projects: Names = ()


class KeptToken(BaseModel):
    """A token's name, scope, limits and times, with the digest that proves it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    name: str = Field(max_length=100)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    scope: ScopeWord
    limits: KeptLimits | None
    created_at: datetime
    expires_at: datetime | None = None

    @property
    def grant(self) -> Grant:
        scope, kept = SCOPES[self.scope], self.limits
        if kept is None:
            return Grant(scope)
        return Grant(scope, Limits(frozenset(kept.collections), frozenset(kept.projects)))

    def is_valid(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


def new_token(
    name: str,
    scope: ScopeWord,
    collections: Sequence[str] = (),
    projects: Sequence[str] = (),
    expires_at: datetime | None = None,
) -> tuple[str, KeptToken]:
    """Make a token; return it, to be shown once, and its record without it.

    Without a collection or project it reaches everything. Raises ValueError for a wrong name.
    """
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    limited = bool(collections or projects)
    limits = KeptLimits(collections=tuple(collections), projects=tuple(projects))
    kept = KeptToken(
        id=secrets.token_hex(ID_BYTES),
        name=name,
        sha256=digest(secret.encode()),
        scope=scope,
        limits=limits if limited else None,
        created_at=utc_now(),
        expires_at=expires_at,
    )
    return secret, kept


def digest(token: bytes) -> str:
    """Return the hash of a token. A slow one would add nothing: a token has 256 random bits."""
    return sha256(token).hexdigest()
