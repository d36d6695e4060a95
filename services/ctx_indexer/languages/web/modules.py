"""Modules of JavaScript: the files that an import may mean, and the exports of Node.js."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.module_files import ModuleFiles
from ctx_indexer.languages.semantics.values import DEFINITION, Values, union
from ctx_indexer.syntax.symbols.spec import DEFAULT

CACHED = 10_000
_ENDINGS = ("ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte")
_WRITTEN = (".js", ".jsx", ".mjs", ".cjs")  # endings that may stand for a TypeScript file
_NAMELESS = frozenset(["src", "lib", "dist", "index", "js", "ts", "mjs", "default"])
_PARTS = re.compile(r"[/.]")
_EXPORTS = "module.exports"  # the name that a file of Node.js assigns its whole value to
_EXPORTED = ("exports.", "module.exports.")


class Modules(ModuleFiles):
    """`import { Cart } from "./cart"` → `cart.ts`, `cart/index.js`, …"""

    def paths(self, importer: str, module: str) -> Sequence[str]:
        return module_paths(importer, module)

    def may_mean(self, module: str, path: str) -> bool:
        """Whether a package may be a file, by its words: `@shop/net` → `packages/net/index.ts`.

        Only build tools know the packages of a workspace, and the aliases of folders.
        """
        stem = path.rpartition(".")[0].removesuffix("/__init__")
        named = {part for part in _PARTS.split(module) if part and part[0] not in "@~"}
        return not (named - _NAMELESS).isdisjoint(stem.split("/"))

    def given(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return the value of a name that a file of Node.js exports: `exports.add = add`."""
        found = [
            machine.binding(file.path, binding)
            for prefix in _EXPORTED
            for binding in file.dotted.get(prefix + name, ())
        ]
        if found:
            return union(found)
        whole = self.whole(machine, file)
        if whole is None:
            return None
        values = whole if name == DEFAULT else machine.attribute(whole, name)
        return values if any(value.kind == DEFINITION for value in values) else None

    def whole(self, machine: Machine, file: FileSymbols) -> Values | None:
        """Return the value that a file of Node.js gives as a whole: `module.exports = f`."""
        bindings = file.dotted.get(_EXPORTS)
        if not bindings:
            return None
        return union(machine.binding(file.path, binding) for binding in bindings)


@lru_cache(maxsize=CACHED)
def module_paths(importer: str, module: str) -> Sequence[str]:
    """Return the files that a relative import may mean: `./cart` → `cart.ts`, `cart/index.ts`."""
    if not module.startswith("."):
        return []
    base = joined(str(PurePosixPath(importer).parent), module)
    stem = base.rpartition(".")[0] if base.endswith(_WRITTEN) else base
    found = [base] if PurePosixPath(base).suffix else []
    found += [f"{stem}.{ending}" for ending in _ENDINGS]
    index = f"{base}/index" if base not in (".", "") else "index"
    return [*found, *(f"{index}.{ending}" for ending in _ENDINGS)]


def joined(folder: str, relative: str) -> str:
    """Join a relative path to a folder, and resolve `.` and `..`: `a/b`, `../c` → `a/c`."""
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
