"""How many calls of a real repository resolve to what they run, by a witness: the program itself
while its tests run (Python), or the language's own compiler.

    .venv/bin/python -m scripts.bench.graph.call_sites ROOT WITNESS --language python

A WITNESS is a file of JSON lines, one for each call that it saw below ROOT:

    {"path": "pkg/a.py", "line": 12, "name": "load", "target": ["pkg/b.py", 40]}

`name` is what the called function is called where it is defined (of a constructor: its class),
`target` a line of its head; null for one that is not below ROOT. Several rows of a site and name
are definitions that it runs, or places where one is declared. An exact answer is right where it is
one of the targets, wrong where the site calls something else of that name, and not judged where
the witness has not seen a call of that name on that line.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.languages.semantics.values import Value
from ctx_indexer.syntax.symbols.table import CLASS
from scripts.bench.arguments import program_parser
from scripts.bench.graph.application import Application

ENDINGS = {
    "python": (".py",),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    "go": (".go",),
    "java": (".java",),
    "c": (".c", ".h"),
    "cpp": (".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh"),
    "rust": (".rs",),
    "csharp": (".cs",),
    "kotlin": (".kt",),
    "php": (".php",),
    "ruby": (".rb",),
}
OUTSIDE = None
Site = tuple[str, int, str]  # path, line, name of what is called
Target = tuple[str, int] | None


@dataclass
class Judged:
    """Answers that were compared with what a witness saw."""

    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)  # pairs of a site and what it calls
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        judged = len(self.right) + len(self.wrong)
        pairs = sum(self.found.values()) + len(self.missed)
        exact = self.found[Certainty.EXACT]
        with_possible = exact + self.found[Certainty.POSSIBLE]
        return (
            f"precision {len(self.right) / max(judged, 1):.3f}"
            f" ({len(self.wrong)} of {judged} wrong)"
            f"  recall {exact / max(pairs, 1):.3f}"
            f"  with possible {with_possible / max(pairs, 1):.3f} ({pairs} pairs)"
        )


def read_witness(path: Path) -> dict[Site, set[Target]]:
    """Read what a witness saw."""
    seen: dict[Site, set[Target]] = defaultdict(set)
    with path.open() as lines:
        for each in map(json.loads, lines):
            target = tuple(each["target"]) if each["target"] else OUTSIDE
            seen[each["path"], each["line"], each["name"]].add(target)
    return seen


class Comparison:
    """Compares the answers for an application with what a witness saw."""

    def __init__(self, application: Application, seen: Mapping[Site, set[Target]]) -> None:
        self._application = application
        self._seen = seen
        self._answers: dict[Site, dict[Value, Certainty]] = defaultdict(dict)
        for each in application.resolve():
            site = (each.path, each.line, self._name(each.target))
            known = self._answers[site].get(each.target)
            if known is not Certainty.EXACT:
                self._answers[site][each.target] = each.certainty

    def judge(self) -> Judged:
        """Compare every site that the witness saw."""
        judged = Judged()
        for site, targets in self._seen.items():
            inner = {target for target in targets if target is not OUTSIDE}
            answers = self._answers.get(site, {})
            meant = {value: self._hit(value, inner) for value in answers}
            for value, sureness in answers.items():
                if sureness is Certainty.EXACT:
                    row = f"{_written(site)} -> {value.path}:{self._line(value)}"
                    (judged.right if meant[value] else judged.wrong).append(row)
            if inner:
                self._count(judged, site, inner, answers, meant)
        return judged

    def _count(
        self,
        judged: Judged,
        site: Site,
        inner: set[tuple[str, int]],
        answers: Mapping[Value, Certainty],
        meant: Mapping[Value, bool],
    ) -> None:
        """Count a site as found or missed, by the surest answer that is right."""
        sureness = {answers[value] for value, hit in meant.items() if hit}
        if not sureness:
            place = min(inner)
            judged.missed.append(f"{_written(site)} -> {place[0]}:{place[1]}")
        else:
            is_exact = Certainty.EXACT in sureness
            judged.found[Certainty.EXACT if is_exact else Certainty.POSSIBLE] += 1

    def _hit(self, value: Value, targets: set[tuple[str, int]]) -> bool:
        """Whether a definition stands at a target; a constructor may stand for its class."""
        file = self._application.file(value.path)
        lines = [line for path, line in targets if path == value.path]
        if file is None:
            return False
        scope = file.scope(value.scope)
        for line in lines:
            if scope.start == line:
                return True  # names agree: several functions may begin on one line
            innermost = self._application.innermost(value.path, line)
            outer = file.scope(innermost).parent if innermost else 0
            if value.scope in (innermost, outer if scope.kind == CLASS else innermost):
                return True
            if scope.parent == innermost and file.is_constructor(value.scope):
                return True
        return False

    def _name(self, value: Value) -> str:
        file = self._application.file(value.path)
        return file.called_name(value.scope)[0] if file and value.scope else ""

    def _line(self, value: Value) -> int:
        file = self._application.file(value.path)
        return file.scope(value.scope).start if file else 0


def _written(site: Site) -> str:
    return f"{site[0]}:{site[1]} {site[2]}"


def _files(root: Path, language: str) -> Iterator[Path]:
    for path in root.rglob("*"):
        if path.name.endswith(ENDINGS[language]) and path.is_file():
            yield path


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("witness", type=Path)
    parser.add_argument("--language", default="python", choices=ENDINGS)
    parser.add_argument("--wrong", action="store_true", help="print the answers that are wrong")
    parser.add_argument("--missed", action="store_true", help="print the calls that are not found")
    options = parser.parse_args()
    files = _files(options.root, options.language)
    application = Application(options.root, files, options.language)
    judged = Comparison(application, read_witness(options.witness)).judge()
    for row in sorted(judged.wrong) if options.wrong else ():
        print(f"wrong   {row}")
    for row in sorted(judged.missed) if options.missed else ():
        print(f"missed  {row}")
    print(judged)


if __name__ == "__main__":
    main()
