"""Checks the values of search filters: an unknown one is an error that names known ones."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, MatchAny
from ctx_indexer.languages.registry import ALIASES, EXTENSIONS, LANGUAGES
from ctx_indexer.schema import fields as payload
from ctx_indexer.search.filters import MAX_PATHS, SearchFilters
from ctx_indexer.search.globs import match_globs
from ctx_indexer.syntax.definitions import KINDS
from ctx_indexer.view.view import ALL_REPOS, View

MAX_NAMED = 30  # values that an error lists
MAX_REPOS = 10_000


def checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds. Raises InvalidInput for an unknown one."""
    for kind in kinds:
        if kind.lower() not in KINDS:
            raise _unknown("kind", kind, KINDS)
    return tuple(kinds)


def checked_languages(languages: Sequence[str]) -> tuple[str, ...]:
    """Return languages by the names of the index. Raises InvalidInput for an unknown one."""
    return tuple(_language(name) for name in languages)


def _language(given: str) -> str:
    name = given.lower().lstrip(".")
    name = ALIASES.get(name, name)
    if name in LANGUAGES:
        return name
    if name in EXTENSIONS:
        return EXTENSIONS[name]
    raise _unknown("language", given, LANGUAGES)


async def check_places(
    store: VectorStore, view: View, filters: SearchFilters, given_repos: Sequence[str]
) -> None:
    """Raise InvalidInput for a repo, folder or pattern that nothing indexed has.

    It reads names from the store, so call it for a search that found nothing.
    """
    if ALL_REPOS not in given_repos:
        known = {
            str(each.value)
            for each in await store.facet(view.collection, payload.REPO, limit=MAX_REPOS)
        }
        for repo in given_repos:
            if repo not in known:
                raise _unknown("repo", repo, known)
    folders = [*filters.under, *(folder for _, folder in filters.folders)]
    if not folders and not filters.path_globs and not filters.path_tests:
        return
    counts = await store.facet(
        view.collection, payload.PATH, where=view.narrowed(), limit=MAX_PATHS
    )
    paths = [str(each.value) for each in counts]
    if folders and not any(_holds(folder, paths) for folder in folders):
        raise _unknown("under", folders[0], await _top_folders(store, view, filters))
    for pattern in filters.path_globs:
        before = ["", *view.paths.shown_folders().values()]
        if not any(match_globs(paths, [pattern], [], folder) for folder in before):
            raise InvalidInput("path_glob", f"{pattern!r} matches no path that is indexed")
    for test in filters.path_tests:
        if not any(map(test, paths)):
            raise InvalidInput("path_regex", "matches no path that is indexed")


async def _top_folders(store: VectorStore, view: View, filters: SearchFilters) -> set[str]:
    """Return the outermost folders of the repos that a search is about."""
    repos = [repo for repo in filters.repos if repo != ALL_REPOS]
    own = Filter(must=[MatchAny(payload.REPO, repos)]) if repos else None
    counts = await store.facet(
        view.collection, payload.PATH, where=view.narrowed(own), limit=MAX_PATHS
    )
    return {str(each.value).split("/", 1)[0] for each in counts if "/" in str(each.value)}


def _holds(folder: str, paths: Sequence[str]) -> bool:
    """Whether a folder, or a file of that name, is indexed."""
    named = folder.strip().replace("\\", "/").strip("/").removeprefix("./")
    if named in ("", "."):
        return True
    return any(path == named or path.startswith(f"{named}/") for path in paths)


def _unknown(field: str, given: str, known: Collection[str]) -> InvalidInput:
    near = get_close_matches(given.lower(), sorted(known), n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    named = sorted(known)[:MAX_NAMED]
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return InvalidInput(field, f"{given!r} is unknown; {hint}allowed: {', '.join(named)}{more}")
