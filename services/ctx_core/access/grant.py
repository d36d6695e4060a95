"""The grant of a token: a scope, and the collections and projects that it reaches."""

from dataclasses import dataclass
from enum import IntEnum


class Scope(IntEnum):
    """A right; each scope includes the ones before it."""

    READ = 1
    WRITE = 2  # store, change, delete entries; bring the index up to date
    ADMIN = 3  # prune, recreate, rebuild

    @property
    def word(self) -> str:
        return self.name.lower()


SCOPES = {scope.word: scope for scope in Scope}


@dataclass(frozen=True)
class Limits:
    """All that a limited token reaches: these collections as a whole, and these projects.

    A project is a repo by its name, and the knowledge of a folder by its name or absolute path.
    """

    collections: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()

    def named(self) -> str:
        """Name them, for an error of the token that has them."""
        named = [f"collection {each}" for each in sorted(self.collections)]
        named += [f"project {each}" for each in sorted(self.projects)]
        return ", ".join(named) or "nothing"


@dataclass(frozen=True)
class Grant:
    """A scope and its limits; None is no limit."""

    scope: Scope
    limits: Limits | None = None


FULL = Grant(Scope.ADMIN)
NOTHING = Grant(Scope.READ, Limits())
