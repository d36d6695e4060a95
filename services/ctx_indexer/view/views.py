"""Resolves views: the one place that asks for collection, repos and checkouts of a call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctx_core.access.access import current
from ctx_core.serving.sessions import SessionDefaults
from ctx_indexer.indexing.checkouts import IndexedCheckouts, choose_checkouts
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.view.paths import Paths
from ctx_indexer.view.view import ALL_REPOS, View


@dataclass(frozen=True)
class ViewArguments:
    """The arguments of a call that decide its view.

    `under` are folders that it is limited to, inside of `workspace` where that is given; `places`
    are further paths that it names. A named path chooses the checkout that holds it.
    """

    collection: str | None = None
    session: str | None = None
    repos: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    workspace: str | None = None


@dataclass(frozen=True)
class ViewDefaults:
    """The view of a call that names nothing: the server's collection, repo and workspace.

    Without a `repo`, and with `only_workspace`, a call is about the repos at and inside the
    workspace. `host_folder` is the workspace's name outside of a container.
    """

    collection: str
    repo: str | None = None
    only_workspace: bool = False
    workspace: Path | None = None
    host_folder: str | None = None


class Views:
    """Resolves the view of a call from its arguments, its session and its grant."""

    def __init__(
        self, checkouts: IndexedCheckouts, sessions: SessionDefaults, defaults: ViewDefaults
    ) -> None:
        self._checkouts = checkouts
        self._sessions = sessions
        self.defaults = defaults

    def collection(self, given: str | None, session: str | None = None) -> str:
        """Return the collection that a call works on: its argument, its session's, or the default.

        Raises InvalidInput for an unknown session, NotPermitted where the caller reaches nothing
        of the collection.
        """
        chosen = given or self._sessions.collection(session) or self.defaults.collection
        current().only_projects(chosen)
        return chosen

    async def resolve(self, asked: ViewArguments) -> View:
        """Resolve the view of a call. A tool does so once, and hands the view down.

        Raises as `collection` does, and InvalidInput for a workspace that is not indexed or for
        places in two checkouts of one repo.
        """
        collection = self.collection(asked.collection, asked.session)
        known = await self._checkouts.of(collection)
        asked = self._inside_workspace(asked, known)
        chosen = self._chosen(known, [*asked.under, *asked.places])
        paths = self._paths(chosen)
        return View(
            collection,
            self._repos(asked.repos, paths),
            tuple(chosen),
            await self._checkouts.hidden(chosen),
            paths,
            asked.under,
        )

    def _inside_workspace(self, asked: ViewArguments, known: Sequence[Checkout]) -> ViewArguments:
        """Join the folders of a call with the workspace that it names."""
        if not asked.workspace:
            return asked
        paths = self._paths(self._chosen(known, [asked.workspace]))
        folders = asked.under or (None,)
        joined = [paths.folder_in(asked.workspace, folder) for folder in folders]
        is_elsewhere = any(folder.startswith("/") for folder in joined)
        repos = asked.repos or ((ALL_REPOS,) if is_elsewhere else ())
        return replace(asked, under=tuple(filter(None, joined)), repos=repos)

    def _chosen(self, known: Sequence[Checkout], places: Sequence[str]) -> list[Checkout]:
        bare = self._paths(())
        named = [place for each in places if (place := bare.place(each)) is not None]
        return choose_checkouts(known, self.defaults.workspace, named)

    def _paths(self, chosen: Sequence[Checkout]) -> Paths:
        roots = {each.repo: each.root for each in chosen}
        return Paths(roots, self.defaults.workspace, self.defaults.host_folder)

    def _repos(self, given: tuple[str, ...], paths: Paths) -> tuple[str, ...]:
        """Return the repos that a call is about: the given ones, else the server's defaults."""
        if given:
            return given
        own = self.defaults.repo
        if own and (current().limits is None or own in paths.roots):
            return (own,)
        return paths.repos_of_workspace() if self.defaults.only_workspace else ()
