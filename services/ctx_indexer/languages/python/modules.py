"""Modules of Python: the files that a name in an import may mean."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from ctx_indexer.languages.python.library import is_builtin
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.module_files import ModuleFiles
from ctx_indexer.languages.semantics.values import UNRESOLVED_VALUES, Values
from ctx_indexer.languages.semantics.visible import file_value

CACHED = 10_000
MAX_ROOTS = 12  # folders above a file that may be the root of its imports
_SOURCE_FOLDERS = ("src", "lib")  # folders from which tests and scripts beside them import
_PACKAGE = "__init__.py"


class Modules(ModuleFiles):
    """`from shop.cart import Cart` → `shop/cart.py` or `shop/cart/__init__.py`."""

    def paths(self, importer: str, module: str) -> Sequence[str]:
        return module_paths(importer, module)

    def unbound(self, file: FileSymbols, name: str) -> Values:
        """Return a builtin; another name that nothing binds may be anything."""
        return super().unbound(file, name) if is_builtin(name) else UNRESOLVED_VALUES

    def inner(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return a module of a package: `shop.cart`, where `shop/__init__.py` binds no `cart`."""
        if not file.path.endswith(f"/{_PACKAGE}"):
            return None
        module = self.module(machine, file, f".{name}")
        return None if module is None else file_value(module)

    def may_mean(self, module: str, path: str) -> bool:
        """Whether the path of a file ends like a module: `net.retry` → `lib/net/retry.py`."""
        stem = path.rpartition(".")[0].removesuffix("/__init__")
        return bool(module) and f"/{stem}".endswith(f"/{module.replace('.', '/')}")


@lru_cache(maxsize=CACHED)
def module_paths(importer: str, module: str) -> Sequence[str]:
    """Return the files that may be a module: relative to the importer, or to a root above it.

    `.cart` in `shop/app.py` → `shop/cart.py`, `shop/cart/__init__.py`.
    """
    folder = PurePosixPath(importer).parent
    dots = len(module) - len(module.lstrip("."))
    inner = module[dots:].replace(".", "/")
    if dots:
        for _ in range(dots - 1):
            folder = folder.parent
        return _in_folder(folder, inner)
    roots = [folder, *folder.parents][:MAX_ROOTS]
    below = [root / name for name in _SOURCE_FOLDERS for root in roots if root.name != name]
    found = [p for root in (*reversed(roots), *below) for p in _in_folder(root, inner)]
    return [path for path in found if path != importer]


def _in_folder(root: PurePosixPath, inner: str) -> list[str]:
    base = root / inner if inner else root
    package = str(base / _PACKAGE)
    return [f"{base}.py", package] if inner else [package]
