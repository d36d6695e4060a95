"""How many calls resolve to their definitions, against published ground truths of Python.

    .venv/bin/python -m scripts.bench.graph.call_graph --applications FOLDER --snippets FOLDER

--applications is `Jarvis` of a checkout of pythonJaRvis/pythonJaRvis.github.io, --snippets is
`micro-benchmark/snippets` of vitsalis/PyCG. Both are data: nothing of them runs. An edge is
counted where its callee is defined in the application. Beside calls, the ground truths hold the
modules that a module imports and the classes that it defines, so these are counted too; a
constructor that is not written out is no edge there.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.relations import Relations
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.python.modules import module_paths
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.values import ScopeRef
from ctx_indexer.syntax.symbols.table import CLASS, FUNCTION
from scripts.bench.arguments import program_parser
from scripts.bench.graph.application import Application
from scripts.bench.graph.call_sites import read_witness

# Three applications to develop with; the other three are for the end.
DEVELOPED = {"furl": "furl", "rich-cli": "rich-cli/src", "sshtunnel": "sshtunnel"}
HELD_BACK = {"bpytop": "bpytop", "sqlparse": "sqlparse", "TextRank4ZH": "TextRank4ZH"}
Edges = dict[str, set[str]]


class CallGraph(Application):
    """The edges of an application from caller to callee, named as the ground truths do."""

    def edges(self, *, calls_only: bool, reads: bool = True) -> tuple[Edges, Edges]:
        """Return exact edges and possible ones; without `reads`, properties are possible."""
        exact: Edges = defaultdict(set)
        possible: Edges = defaultdict(set)
        for each in self.resolve():
            if self.runs(each.target):
                sure = each.certainty is Certainty.EXACT and (reads or not each.is_read)
                callees = (exact if sure else possible)[self.name(each.path, each.scope)]
                callees.add(self.name(each.target.path, each.target.scope))
        if not calls_only:
            for file in self.files.values():
                self._add_definitions(exact, file)
        return exact, possible

    def dispatched(self) -> Edges:
        """Return the overrides of the methods that calls resolve to: each may run as well."""
        found: Edges = defaultdict(set)
        resolver = Resolver(self)
        for file in self.files.values():
            for call in file.table.calls:
                resolver.start()
                values = resolver.calls.targets(ScopeRef(file.path, call.scope), call)
                for value in values:
                    if self.runs(value):
                        overrides = Relations(resolver, value).overrides()
                        found[self.name(file.path, call.scope)] |= {
                            self.name(each.path, each.value.scope) for each in overrides
                        }
        return found

    def recorded(self, witness: Path) -> Edges:
        """Return the edges that ran, by a file that `witnesses/record.py` wrote."""
        found: Edges = defaultdict(set)
        for (path, line, _), targets in read_witness(witness).items():
            for target in targets:
                if target is not None and {path, target[0]} <= self.files.keys():
                    found[self._at(path, line)].add(self._at(*target))
        return found

    def _at(self, path: str, line: int) -> str:
        """Return the name of the innermost function or class at a line."""
        return self.name(path, self.innermost(path, line))

    def _add_definitions(self, exact: Edges, file: FileSymbols) -> None:
        for number, scope in enumerate(file.table.scopes):
            if scope.kind == CLASS:
                exact[self.name(file.path, scope.parent)].add(self.name(file.path, number))
        for each in file.table.imports:
            modules = [each.module, f"{each.module.rstrip('.')}.{each.name}"]
            for module in modules:
                found = [p for p in module_paths(file.path, module) if p in self.files]
                if found and found[0] != file.path:
                    exact[self.name(file.path, each.scope)].add(_module(found[0]))

    def name(self, path: str, scope: int) -> str:
        """Return the qualified name of a scope, as the ground truths write it."""
        file = self.files[path]
        if file.table.language == "java":
            return self._java_name(file, scope)
        inner = file.scope(scope).path
        if file.table.language == "javascript":
            inner = ".".join(self._javascript_parts(file, scope))
        return f"{_module(path)}.{inner}" if inner else _module(path)

    def _java_name(self, file: FileSymbols, number: int) -> str:
        """Return `package.Class:method`; overloads have one name."""
        *classes, method = file.scope(number).path.split(".") if number else ["", ""]
        method = "<init>" if file.is_constructor(number) else method
        package = f"{file.table.package}." if file.table.package else ""
        return f"{package}{'$'.join(classes)}:{method}"

    def _javascript_parts(self, file: FileSymbols, number: int) -> list[str]:
        """Return the names down to a scope; arrow functions are counted in each scope."""
        if number <= 0:
            return []
        scope = file.scope(number)
        arrows = [
            each
            for each, other in enumerate(file.table.scopes)
            if other.parent == scope.parent and self._is_arrow(file, each)
        ]
        name = f"<arrow{arrows.index(number) + 1}>" if number in arrows else scope.name
        return [*self._javascript_parts(file, scope.parent), name]

    def _is_arrow(self, file: FileSymbols, number: int) -> bool:
        scope = file.scope(number)
        row = self.rows[file.path][scope.start - 1]
        return scope.kind == FUNCTION and "=>" in row and "function" not in row


def _module(path: str) -> str:
    parts = path.removesuffix(".py").removesuffix(".js").split("/")
    return ".".join(parts[:-1] if parts[-1] in ("__init__", "index") else parts)


@dataclass
class Counts:
    """Edges that are right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(
        self, truth: Mapping[str, Iterable[str]], found: Edges, admit: Callable[[str], bool]
    ) -> None:
        """Compare the edges of all callers."""
        for caller in {*truth, *found}:
            expected = {callee for callee in truth.get(caller, ()) if admit(callee)}
            got = {callee for callee in found.get(caller, ()) if admit(callee)}
            self.right += len(expected & got)
            self.wrong += len(got - expected)
            self.missed += len(expected - got)

    def __str__(self) -> str:
        precision = self.right / max(self.right + self.wrong, 1)
        recall = self.right / max(self.right + self.missed, 1)
        shares = f"precision {precision:.3f}  recall {recall:.3f}"
        return f"{shares}  ({self.right} right, {self.wrong} wrong, {self.missed} missed)"


def applications(
    folder: Path, chosen: Mapping[str, str], recordings: Path | None
) -> Mapping[str, Counts]:
    """Compare the edges of applications with the ground truth, and with it and what ran."""
    counts: dict[str, Counts] = defaultdict(Counts)
    for name, subfolder in chosen.items():
        root = folder / "dataset/macro_benchmark/pj" / subfolder
        truth = json.loads((folder / f"ground_truth/macro_benchmark/{name}/EA.json").read_text())
        package = name.replace("-", "_").lower()
        paths = [p for p in root.rglob("*.py") if _belongs(p.relative_to(root), package)]
        graph = CallGraph(root, paths)
        exact, possible = graph.edges(calls_only=False)
        both = {caller: exact[caller] | possible[caller] for caller in {*exact, *possible}}

        def admit(callee: str, package: str = package) -> bool:
            return callee.lower().split(".")[0] == package

        counts["exact, calls alone"].add(
            truth, graph.edges(calls_only=False, reads=False)[0], admit
        )
        counts["exact"].add(truth, exact, admit)
        counts["exact + possible"].add(truth, both, admit)
        witness = recordings / f"{name}.jsonl" if recordings else None
        if witness and witness.exists():
            ran = graph.recorded(witness)
            whole = {each: {*truth.get(each, ()), *ran[each]} for each in {*truth, *ran}}
            counts["exact, with what ran"].add(whole, exact, admit)
    return counts


def _belongs(path: Path, package: str) -> bool:
    return path.parts[0].lower().removesuffix(".py") == package


def snippets(folder: Path) -> Counts:
    """Compare the edges of small programs that are hard for a resolver."""
    counts = Counts()
    for truth_file in sorted(folder.glob("*/*/callgraph.json")):
        root = truth_file.parent
        exact, _ = CallGraph(root, root.rglob("*.py")).edges(calls_only=True)
        truth = json.loads(truth_file.read_text())
        counts.add(truth, exact, lambda callee: not callee.startswith("<"))
    return counts


def javascript(folder: Path) -> tuple[Counts, Counts]:
    """Compare the edges of small programs of SWARM-CG in JavaScript."""
    exact_counts, all_counts = Counts(), Counts()
    for truth_file in sorted(folder.rglob("callgraph.json")):
        root = truth_file.parent
        exact, possible = CallGraph(root, root.rglob("*.js"), "javascript").edges(calls_only=True)
        both = {caller: exact[caller] | possible[caller] for caller in {*exact, *possible}}
        truth = json.loads(truth_file.read_text())
        exact_counts.add(truth, exact, lambda callee: not callee.startswith("<"))
        all_counts.add(truth, both, lambda callee: not callee.startswith("<"))
    return exact_counts, all_counts


def java(folder: Path) -> tuple[Counts, Counts]:
    """Count the listed edges of the programs of CATS that are found; most calls are not listed."""
    exact_counts, all_counts = Counts(), Counts()
    for truth_file in sorted(folder.rglob("callgraph.json")):
        root = truth_file.parent
        application = CallGraph(root, root.rglob("*.java"), "java")
        exact, possible = application.edges(calls_only=True)
        below = application.dispatched()
        listed: dict[str, set[str]] = defaultdict(set)
        for caller, callees in json.loads(truth_file.read_text()).items():
            listed[_plain(caller)] |= {_plain(callee) for callee in callees}
        callers = {*exact, *possible, *below}
        both = {each: exact[each] | possible[each] | below[each] for each in callers}
        for counts, found in ((exact_counts, exact), (all_counts, both)):
            counts.add(listed, {each: found[each] & listed[each] for each in found}, _in_program)
    return exact_counts, all_counts


def _plain(name: str) -> str:
    return name.partition("(")[0]


def _in_program(callee: str) -> bool:
    return not callee.startswith("java.")


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--applications", type=Path)
    parser.add_argument("--snippets", type=Path)
    parser.add_argument(
        "--javascript", type=Path, help="benchmarks/javascript/swarm_js of SWARM-CG"
    )
    parser.add_argument("--java", type=Path, help="benchmarks/java/cats of SWARM-CG")
    parser.add_argument("--held-back", action="store_true", help="the other three applications")
    parser.add_argument(
        "--recordings",
        type=Path,
        help="a folder of APPLICATION.jsonl that witnesses/record.py wrote\n"
        "while the application's tests ran: what ran is added to the ground truth",
    )
    options = parser.parse_args()
    if options.applications:
        chosen = HELD_BACK if options.held_back else DEVELOPED
        compared = applications(options.applications, chosen, options.recordings)
        for row, counts in compared.items():
            print(f"applications, {row:<22}{counts}")
    if options.snippets:
        print(f"snippets, exact                 {snippets(options.snippets)}")
    for folder, compare in ((options.javascript, javascript), (options.java, java)):
        if folder:
            exact, everything = compare(folder)
            print(f"{compare.__name__}, exact             {exact}")
            print(f"{compare.__name__}, exact + possible  {everything}")


if __name__ == "__main__":
    main()
