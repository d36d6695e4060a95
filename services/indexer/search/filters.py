"""Where a search looks: the contract's filters as one filter of the store."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.core.errors import InvalidInput
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Condition, Filter, Match, MatchAny
from services.indexer.search.globs import matching

ALL_REPOS = "*"
NO_PATH = "\0"  # a path that no file has
MAX_PATHS = 200_000  # of a collection, looked at for a path pattern
# A kind asked for finds its kin: a method is a function, a struct is a class.
KIN = {
    "function": ("function", "method"),
    "class": ("class", "struct", "interface", "trait", "enum", "type"),
    "variable": ("variable", "constant"),
}


@dataclass(frozen=True)
class SearchFilters:
    """Filters, each empty when it does not restrict."""

    repos: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    exts: tuple[str, ...] = ()
    path_globs: tuple[str, ...] = ()
    not_globs: tuple[str, ...] = ()
    is_test: bool | None = None
    is_config: bool | None = None

    def narrowed(self, inline: dict[str, list[str]]) -> "SearchFilters":
        """With the filters that were written into the query."""
        names = {
            "language": "languages",
            "kind": "kinds",
            "symbol": "symbols",
            "repo": "repos",
            "under": "under",
            "ext": "exts",
            "path_glob": "path_globs",
            "not_glob": "not_globs",
        }
        changes: dict[str, Any] = {
            names[name]: (*getattr(self, names[name]), *values) for name, values in inline.items()
        }
        return replace(self, **changes)

    async def filter(self, store: VectorStore, collection: str) -> Filter | None:
        """Everything is compared by the store, so nothing is lost to a filter that runs late."""
        must = self._conditions()
        if self.path_globs or self.not_globs:
            where = Filter(must=must) if must else None
            facets = await store.facet(collection, "path", where=where, limit=MAX_PATHS)
            paths = matching((str(f.value) for f in facets), self.path_globs, self.not_globs)
            must.append(MatchAny("path", paths or [NO_PATH]))
        return Filter(must=must) if must else None

    def _conditions(self) -> list[Condition]:
        must: list[Condition] = []
        if self.repos and ALL_REPOS not in self.repos:
            must.append(MatchAny("repo", list(self.repos)))
        if self.languages:
            must.append(MatchAny("language", [name.lower() for name in self.languages]))
        if self.kinds:
            must.append(MatchAny("kind", _with_kin(self.kinds)))
        if self.symbols:
            must.append(MatchAny("symbols", [_last_name(name) for name in self.symbols]))
        if self.exts:
            must.append(MatchAny("ext", [ext.lower().lstrip(".") for ext in self.exts]))
        if self.under:
            must.append(_under(self.under))
        if self.is_test is not None:
            must.append(Match("is_test", self.is_test))
        if self.is_config is not None:
            must.append(Match("is_config", self.is_config))
        return must


def _under(folders: Sequence[str]) -> Condition:
    """A folder means all below it; a file means itself."""
    cleaned = [folder.strip().replace("\\", "/").strip("/") for folder in folders]
    if any(part == ".." for folder in cleaned for part in folder.split("/")):
        raise InvalidInput("under", "must not contain '..'")
    kept = [folder.removeprefix("./") for folder in cleaned if folder not in ("", ".")]
    if not kept:
        return Filter()
    return Filter(should=[MatchAny("dirs", kept), MatchAny("path", kept)])


def _with_kin(kinds: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(k for kind in kinds for k in KIN.get(kind.lower(), (kind.lower(),))))


def _last_name(symbol: str) -> str:
    """`Class.method`, `mod::item` → the last name, as it is indexed."""
    for separator in ("::", ".", "#", "->"):
        symbol = symbol.rsplit(separator, 1)[-1]
    return symbol.lower()
