"""Runs a module of Python, such as pytest, and writes which functions the calls below a folder ran.

    python scripts/bench/graph/witnesses/record.py ROOT WITNESS PACKAGE pytest ARGUMENTS…

ROOT holds the folder or file PACKAGE; its calls are written for `scripts.bench.graph.call_sites`.
It needs the standard library alone, so that any environment which the tests run in will do.
Generators are left out: the profiler sees who resumes them, not who calls them.
"""

import ast
import atexit
import inspect
import json
import runpy
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_UNNAMED = "<"  # starts the names of modules, lambdas and comprehensions
Row = tuple[str, int, str, tuple[str, int] | None]


class Recorder:
    """Notes the calls that code of one package makes."""

    def __init__(self, root: Path, package: str) -> None:
        self._root = f"{root.resolve()}/"
        self._package = f"{self._root}{package}"
        self._paths: dict[CodeType, str] = {}
        self._heads: dict[str, dict[int, int]] = {}
        self.rows: set[Row] = set()

    def see(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take an event of the profiler."""
        if event == "call" and frame.f_back is not None:
            self._note(frame.f_back, frame.f_code)
        elif event == "c_call" and (path := self._path(frame.f_code)):
            name = getattr(argument, "__name__", "")
            self.rows.add((path, frame.f_lineno, name, None))

    def _note(self, caller: FrameType, called: CodeType) -> None:
        path = self._path(caller.f_code)
        name = called.co_name
        is_function = called.co_flags & inspect.CO_OPTIMIZED and not called.co_flags & _RESUMED
        if not path or not is_function or name.startswith(_UNNAMED):
            return
        if name in ("__init__", "__new__"):
            name = called.co_qualname.split(".")[-2:][0]
        home = self._path(called)
        target = (home, self._head(home, called.co_firstlineno)) if home else None
        self.rows.add((path, caller.f_lineno, name, target))

    def _path(self, code: CodeType) -> str:
        """Return the path of code below the root; empty where it is not of the package."""
        known = self._paths.get(code)
        if known is None:
            path = code.co_filename
            known = path.removeprefix(self._root) if path.startswith(self._package) else ""
            self._paths[code] = known
        return known

    def _head(self, path: str, line: int) -> int:
        """Return the line of a definition whose decorators begin on a line."""
        if path not in self._heads:
            self._heads[path] = dict(_heads(ast.parse(Path(self._root, path).read_bytes())))
        return self._heads[path].get(line, line)


def _heads(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield node.decorator_list[0].lineno, node.lineno


def main() -> None:
    root, witness, package, module, *arguments = sys.argv[1:]
    recorder = Recorder(Path(root), package)

    def write() -> None:
        sys.setprofile(None)
        with Path(witness).open("w") as lines:
            for path, line, name, target in sorted(recorder.rows, key=repr):
                row = {"path": path, "line": line, "name": name, "target": target}
                lines.write(json.dumps(row) + "\n")

    atexit.register(write)
    sys.argv = [module, *arguments]
    sys.path.insert(0, root)
    threading.setprofile(recorder.see)
    sys.setprofile(recorder.see)
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
