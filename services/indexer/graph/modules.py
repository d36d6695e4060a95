"""The files that an import may mean, by the language's rules, best first."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

CACHED = 10_000
MAX_ROOTS = 12  # folders above a file that may be the root of its imports


@lru_cache(maxsize=CACHED)
def python_files(importer: str, module: str) -> Sequence[str]:
    """Return the files that may be a Python module: relative to the importer, or to a root."""
    folder = PurePosixPath(importer).parent
    dots = len(module) - len(module.lstrip("."))
    inner = module[dots:].replace(".", "/")
    if dots:
        for _ in range(dots - 1):
            folder = folder.parent
        return _python_module(folder, inner)
    roots = [folder, *folder.parents][:MAX_ROOTS]
    found = [path for root in reversed(roots) for path in _python_module(root, inner)]
    return [path for path in found if path != importer]


def _python_module(root: PurePosixPath, inner: str) -> list[str]:
    base = root / inner if inner else root
    package = str(base / "__init__.py")
    return [f"{base}.py", package] if inner else [package]
