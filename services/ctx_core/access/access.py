"""The access of the call that is running: every tool asks it before it reads or writes."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from ctx_core.access.grant import FULL, Grant, Limits, Scope
from ctx_core.errors import NotPermitted


class Access:
    """Compares the collections and projects of a call with a grant.

    `was_checked` says whether it did: a limited call that was never compared is refused at its end.
    """

    def __init__(self, grant: Grant = FULL) -> None:
        self.grant = grant
        self.was_checked = False

    @property
    def limits(self) -> Limits | None:
        return self.grant.limits

    def require_scope(self, needed: Scope, what: str) -> None:
        """Raise NotPermitted where the token's scope is less than the one that is needed."""
        if self.grant.scope < needed:
            raise NotPermitted(
                f"{what} needs a token with the scope {needed.word}; this one has "
                f"{self.grant.scope.word} (ctx token create makes tokens).",
                needed_scope=needed.word,
                scope=self.grant.scope.word,
            )

    def require_everything(self, what: str) -> None:
        """Raise NotPermitted where the token is limited to some collections or projects."""
        self.was_checked = True
        if self.limits is not None:
            raise self.refusal(f"{what} is for tokens without limits")

    def reaches_collection(self, name: str) -> bool:
        """Whether all of a collection is reached."""
        self.was_checked = True
        return self.limits is None or name in self.limits.collections

    def require_collection(self, name: str) -> None:
        """Raise NotPermitted where not all of a collection is reached."""
        if not self.reaches_collection(name):
            raise self.refusal("this collection is not among what the token reaches")

    def reaches_project(self, *names: str) -> bool:
        """Whether a project is reached, by any of its names."""
        self.was_checked = True
        return self.limits is None or not self.limits.projects.isdisjoint(names)

    def require_project(self, *names: str) -> None:
        """Raise NotPermitted where a project is not reached."""
        if not self.reaches_project(*names):
            raise self.refusal("this project is not among what the token reaches")

    def reaches_repo(self, collection: str, repo: str) -> bool:
        """Whether the code of a repo in a collection is reached, by either name."""
        return self.reaches_collection(collection) or self.reaches_project(repo)

    def only_projects(self, collection: str) -> frozenset[str] | None:
        """Return the projects whose part of a collection is reached; None where it is all of it.

        Raises NotPermitted where nothing of it is.
        """
        if self.limits is None or self.reaches_collection(collection):
            return None
        if not self.limits.projects:
            raise self.refusal("this collection is not among what the token reaches")
        return self.limits.projects

    def require_checked(self, what: str) -> None:
        """Raise NotPermitted where a limited call was compared with nothing."""
        if self.limits is not None and not self.was_checked:
            raise self.refusal(f"{what} is for tokens without limits")

    def refusal(self, reason: str) -> NotPermitted:
        """Return an error that names the reason and the token's own limits, nothing else."""
        reached = "everything" if self.limits is None else self.limits.named()
        return NotPermitted(f"Not permitted: {reason}. It reaches: {reached}.", reaches=reached)


_LOCAL = Access()
_current: ContextVar[Access] = ContextVar("ctx_access", default=_LOCAL)


def current() -> Access:
    """Return the access of the call that is running; without a call that is everything."""
    return _current.get()


@contextlib.contextmanager
def during(grant: Grant) -> Iterator[Access]:
    """Let a call have a grant while the block lasts."""
    access = Access(grant)
    token = _current.set(access)
    try:
        yield access
    finally:
        _current.reset(token)
