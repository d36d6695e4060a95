"""The symbol graph of a repo: who calls a definition, and who imports it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ctx_core.blocking import COMPUTE
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.edges import CallSite, CallSites
from ctx_indexer.graph.escapes import Consequence, Escape
from ctx_indexer.graph.importers import ImportSite, import_sites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.references import count_references
from ctx_indexer.graph.relations import Related, Relations
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, Value
from ctx_indexer.syntax.symbols.table import BLOCK
from ctx_indexer.view.view import View

MAX_ROUNDS = 8  # rounds of loading tables that resolving needs; each follows one more import
T = TypeVar("T")


@dataclass(frozen=True)
class GraphDefinition:
    """A definition that the graph knows: a function, method or class."""

    value: Value
    symbol: str
    start_line: int

    @property
    def path(self) -> str:
        return self.value.path


@dataclass(frozen=True)
class Answer:
    """The sites and definitions that were found; `incomplete` says why there may be more."""

    sites: Sequence[CallSite] = ()
    related: Sequence[Related] = ()
    unresolved: Sequence[str] = ()  # names of calls in it that resolve to nothing known
    imports: Sequence[ImportSite] = ()
    escapes: Sequence[Escape] = ()
    incomplete: str = ""

    def problems(self, shown: Callable[[str], str]) -> list[str]:
        """Return why there may be more; `shown` turns paths into the caller's."""
        found = [self.incomplete] if self.incomplete else []
        for consequence in Consequence:
            places = [each for each in self.escapes if each.consequence is consequence]
            if places:
                first = places[0]
                more = f" and {len(places) - 1} more" if len(places) > 1 else ""
                where = f"{shown(first.path)}:{first.line}{more}"
                found.append(f"{first.how} at {where}: {consequence}")
        return found


class SymbolGraph:
    """Answers questions about the definitions of one repo; tables stay loaded between them."""

    def __init__(self, store: VectorStore, view: View, repo: str) -> None:
        self._store = store
        self._view = view
        self._repo = repo
        self._loaded = LoadedTables(store, view, repo)
        self._resolver = Resolver(self._loaded)

    async def definitions(self, name: Sequence[str], paths: Sequence[str]) -> list[GraphDefinition]:
        """Find functions, methods and classes by the last parts of their path, in some files.

        `["Cart", "add"]` → `Cart.add` and `shop.Cart.add`.
        """
        tables = self._loaded
        await self._require(tables, paths)
        return await COMPUTE.run(_named, tables, paths, name)

    async def definitions_at(self, path: str, name: str, lines: range) -> list[GraphDefinition]:
        """Find functions, methods and classes of a name that begin on some lines of a file."""
        found = await self.definitions([name], [path])
        return [each for each in found if each.start_line in lines]

    async def callers(self, *targets: GraphDefinition) -> Answer:
        """Find the calls of a definition, or of several of one name."""
        tables = self._loaded
        await self._require(tables, [each.path for each in targets])
        finder = CallSites(tables, self._resolver, [each.value for each in targets])
        sites = await self._rounds(tables, finder.find)
        sites.sort(key=lambda site: (site.certainty != Certainty.EXACT, site.path, site.line))
        late = f"{finder.unresolved} calls of this name were not resolved in time"
        return Answer(
            sites=sites,
            escapes=await self._rounds(tables, finder.escapes),
            incomplete=late if finder.unresolved else _incomplete(tables),
        )

    async def importers(self, *targets: GraphDefinition) -> Answer:
        """Find the files that import a definition, or one of several, also under another name."""
        tables = self._loaded
        await self._require(tables, [each.path for each in targets])
        resolver = self._resolver

        def find() -> list[ImportSite]:
            return [site for each in targets for site in import_sites(resolver, each.value)]

        found = await self._rounds(tables, find)
        return Answer(imports=found, incomplete=_incomplete(tables))

    async def callees(self, target: GraphDefinition) -> Answer:
        """Find the definitions that the code of one calls, and the calls that do not resolve."""
        tables, relations = await self._relations(target)
        found = await self._rounds(tables, relations.callees)
        return Answer(
            related=found, unresolved=relations.unresolved, incomplete=_incomplete(tables)
        )

    async def related_files(self, target: GraphDefinition) -> list[str]:
        """Return the files of a definition's callees, then the files that its own file imports."""
        tables, relations = await self._relations(target)
        called = await self._rounds(tables, relations.callees)
        imported = await self._rounds(tables, relations.imported)
        paths = [*(each.path for each in called), *imported]
        return [path for path in dict.fromkeys(paths) if path != target.path]

    async def subclasses(self, target: GraphDefinition) -> Answer:
        """Find the classes that name a class as their base."""
        tables, relations = await self._relations(target)
        found = await self._rounds(tables, relations.subclasses)
        return Answer(related=found, incomplete=_incomplete(tables))

    async def overrides(self, target: GraphDefinition) -> Answer:
        """Find the methods of subclasses, also of indirect ones, that replace a method."""
        tables, relations = await self._relations(target)
        found = await self._rounds(tables, relations.overrides)
        return Answer(related=found, incomplete=_incomplete(tables))

    async def references(self, name: str, paths: Sequence[str]) -> dict[str, int]:
        """Count the lines of code with a name by their kind: call, import, ….

        `paths` are files that define the name; files that mention it are read as well.
        """
        tables = self._loaded
        tables.callers(name)
        await self._require(tables, paths)
        homes = [file for path in paths if (file := tables.file(path))]
        files = {file.path: file for file in (*homes, *tables.callers(name))}
        return await COMPUTE.run(count_references, files.values(), name)

    async def _relations(self, target: GraphDefinition) -> tuple[LoadedTables, Relations]:
        tables = self._loaded
        await self._require(tables, [target.path])
        return tables, Relations(self._resolver, target.value)

    def fresh(self) -> "SymbolGraph":
        """Return a graph of the same repo that has loaded nothing yet."""
        return SymbolGraph(self._store, self._view, self._repo)

    async def _require(self, tables: LoadedTables, paths: Sequence[str]) -> None:
        for path in paths:
            tables.file(path)
        await tables.load()

    async def _rounds(self, tables: LoadedTables, question: Callable[[], list[T]]) -> list[T]:
        """Ask a question again until every table it needed is loaded, at most MAX_ROUNDS times."""
        found = await COMPUTE.run(self._round, question)
        for _ in range(MAX_ROUNDS):
            if tables.is_complete or tables.truncated:
                break
            await tables.load()
            found = await COMPUTE.run(self._round, question)
        return found

    def _round(self, question: Callable[[], list[T]]) -> list[T]:
        self._resolver.begin_round()
        return question()


def _incomplete(tables: LoadedTables) -> str:
    if tables.truncated:
        return "too many files mention it; only a part of them was read"
    return "" if tables.is_complete else "imports go deeper than they are followed"


def _named(
    tables: LoadedTables, paths: Sequence[str], parts: Sequence[str]
) -> list[GraphDefinition]:
    found = []
    for path in paths:
        file = tables.file(path)
        for number, scope in enumerate(file.table.scopes if file else ()):
            is_definition = number and scope.kind != BLOCK
            if is_definition and scope.path.split(".")[-len(parts) :] == list(parts):
                value = Value(DEFINITION, path, number)
                found.append(GraphDefinition(value, scope.path, scope.start))
    return sorted(found, key=lambda each: (each.path, each.start_line))
