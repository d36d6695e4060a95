"""The filters of a code search, as one filter of the store."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ctx_core.blocking import COMPUTE
from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Condition, Filter, Match, MatchAny
from ctx_indexer.schema import fields as payload
from ctx_indexer.search.globs import match_globs
from ctx_indexer.view.view import ALL_REPOS, View

NO_PATH = "\0"  # a path that no file has
MAX_PATHS = 200_000  # of a collection, compared with a path pattern
# Kinds that a kind includes: a method is a function, a struct is a class.
KINDS = {
    "function": ("function", "method"),
    "class": ("class", "struct", "interface", "trait", "enum", "type"),
    "variable": ("variable", "constant"),
}
# The names of filters inside a query, and the field of SearchFilters that each one adds to.
INLINE_FILTERS = {
    "lang": "languages",
    "language": "languages",
    "path": "path_globs",
    "kind": "kinds",
    "symbol": "symbols",
    "repo": "repos",
    "under": "under",
    "ext": "exts",
    "not": "not_globs",
}


@dataclass(frozen=True)
class SearchFilters:
    """The filters of a search; an empty one does not restrict it.

    `folders` are folders of one repo each: a repo and a folder inside it, "" for all of it;
    `path_tests` say of a path inside its repo whether it is meant.
    """

    repos: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    exts: tuple[str, ...] = ()
    path_globs: tuple[str, ...] = ()
    not_globs: tuple[str, ...] = ()
    folders: tuple[tuple[str, str], ...] = ()
    path_tests: tuple[Callable[[str], bool], ...] = ()
    is_test: bool | None = None
    is_config: bool | None = None

    @classmethod
    def from_inline(cls, inline: Iterable[tuple[str, str]]) -> "SearchFilters":
        """Build filters from the names and values written into a query."""
        values: dict[str, Any] = {}
        for name, value in inline:
            field = INLINE_FILTERS[name]
            values[field] = (*values.get(field, ()), value)
        return cls(**values)

    def with_inline(self, inline: "SearchFilters") -> "SearchFilters":
        """Add the values of a query's inline filters."""
        values: dict[str, Any] = {}
        for field in fields(self):
            own, more = getattr(self, field.name), getattr(inline, field.name)
            values[field.name] = (*own, *more) if isinstance(own, tuple) else own
        return SearchFilters(**values)

    def within(self, view: View, named: Sequence[str] = ()) -> "SearchFilters":
        """Resolve the folders and patterns of a caller to those of the repos of a view.

        A folder is one of the workspace, or of the repos that the caller named: `under=("lib",)`
        → `folders=(("shop", "lib"),)`. Raises InvalidInput for a folder with `..`.
        """
        inside = replace(
            self,
            path_globs=tuple(map(view.paths.pattern, self.path_globs)),
            not_globs=tuple(map(view.paths.pattern, self.not_globs)),
        )
        if not self.under or not view.roots:
            return inside
        pairs = [pair for folder in self.under for pair in view.paths.folders(folder, named)]
        whole = tuple(dict.fromkeys(repo for repo, folder in pairs if not folder))
        if len(whole) == len(pairs) and not set(self.repos).difference(whole, [ALL_REPOS]):
            return replace(inside, under=(), repos=whole)  # all of them: nothing is narrowed
        return replace(inside, under=(), folders=tuple(dict.fromkeys(pairs)))

    @property
    def has_patterns(self) -> bool:
        return bool(self.path_globs or self.not_globs)

    @property
    def narrow(self) -> bool:
        """Whether a filter other than the repo restricts the search."""
        return replace(self, repos=()) != SearchFilters()

    async def store_filter(self, store: VectorStore, view: View) -> Filter | None:
        """Build the store's filter; a path pattern becomes the paths that match it.

        The store compares everything, so no hit is lost to a filter applied later. Raises
        InvalidInput for a pattern or folder that is wrong.
        """
        must = self._conditions()
        if self.has_patterns or self.path_tests:
            own = view.paths.shown_folders() if self.has_patterns else {}
            of_folders = [await self._paths(store, view, must, *each) for each in own.items()]
            others = await self._paths(store, view, must, None, "", without=list(own))
            must.append(Filter(should=[*of_folders, others]))
        return view.narrowed(Filter(must=must) if must else None)

    async def _paths(
        self,
        store: VectorStore,
        view: View,
        must: Sequence[Condition],
        repo: str | None,
        folder: str,
        without: Sequence[str] = (),
    ) -> Filter:
        """Match the paths that patterns and tests admit, of one repo or of all but some."""
        of_repo: list[Condition] = [Match(payload.REPO, repo)] if repo is not None else []
        excluded: list[Condition] = [MatchAny(payload.REPO, list(without))] if without else []
        where = view.narrowed(Filter(must=[*must, *of_repo], must_not=excluded))
        counts = await store.facet(view.collection, payload.PATH, where=where, limit=MAX_PATHS)
        paths = [str(each.value) for each in counts]
        admitted = MatchAny(payload.PATH, await COMPUTE.run(self._matching, paths, folder))
        return Filter(must=[*of_repo, admitted], must_not=excluded)

    def _matching(self, paths: Sequence[str], folder: str) -> list[str]:
        matching = match_globs(paths, self.path_globs, self.not_globs, folder)
        return [path for path in matching if all(test(path) for test in self.path_tests)] or [
            NO_PATH
        ]

    def _conditions(self) -> list[Condition]:
        must: list[Condition] = []
        if self.repos and ALL_REPOS not in self.repos:
            must.append(MatchAny(payload.REPO, list(self.repos)))
        if self.languages:
            must.append(MatchAny(payload.LANGUAGE, [name.lower() for name in self.languages]))
        if self.kinds:
            must.append(MatchAny(payload.KIND, included_kinds(self.kinds)))
        if self.symbols:
            must.append(MatchAny(payload.SYMBOLS, [_last_name(name) for name in self.symbols]))
        if self.exts:
            must.append(MatchAny(payload.EXTENSION, [e.lower().lstrip(".") for e in self.exts]))
        if self.under:
            must.append(_under(self.under))
        if self.folders:
            must.append(Filter(should=[_in_repo(*each) for each in self.folders]))
        if self.is_test is not None:
            must.append(Match(payload.IS_TEST, self.is_test))
        if self.is_config is not None:
            must.append(Match(payload.IS_CONFIG, self.is_config))
        return must


def _under(folders: Sequence[str]) -> Condition:
    """Match everything below the folders, or the files themselves that are named."""
    cleaned = [folder.strip().replace("\\", "/").strip("/") for folder in folders]
    if any(part == ".." for folder in cleaned for part in folder.split("/")):
        raise InvalidInput("under", "must not contain '..'")
    named = [folder.removeprefix("./") for folder in cleaned if folder not in ("", ".")]
    if not named:
        return Filter()
    return Filter(should=[MatchAny(payload.FOLDERS, named), MatchAny(payload.PATH, named)])


def _in_repo(repo: str, folder: str) -> Filter:
    """Match everything below a folder of a repo, or all of the repo."""
    of_repo = Match(payload.REPO, repo)
    return Filter(must=[of_repo, _under([folder])] if folder else [of_repo])


def included_kinds(kinds: Sequence[str]) -> list[str]:
    """Return the kinds with all that they include."""
    lower = [kind.lower() for kind in kinds]
    return list(dict.fromkeys(each for kind in lower for each in KINDS.get(kind, (kind,))))


def _last_name(symbol: str) -> str:
    """Return the last name of a symbol path as it is indexed: `Class.method` → method."""
    for separator in ("::", ".", "#", "->"):
        symbol = symbol.rsplit(separator, 1)[-1]
    return symbol.lower()
