"""The files that an import may mean, by the language's rules, best first."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

CACHED = 10_000
MAX_ROOTS = 12  # folders above a file that may be the root of its imports
_JAVASCRIPT = ("ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte")
_WRITTEN = (".js", ".jsx", ".mjs", ".cjs")  # endings that may stand for a TypeScript file
_SOURCE_FOLDERS = ("src", "lib")  # that tests and scripts beside them import from
_CRATE_ROOTS = ("lib.rs", "main.rs")
_FOREIGN_CRATES = frozenset(["std", "core", "alloc"])
_NAMELESS = frozenset(["src", "lib", "dist", "index", "js", "ts", "mjs", "default"])
_PARTS = re.compile(r"[/.]")


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
    below = [root / name for name in _SOURCE_FOLDERS for root in roots if root.name != name]
    found = [p for root in (*reversed(roots), *below) for p in _python_module(root, inner)]
    return [path for path in found if path != importer]


def _python_module(root: PurePosixPath, inner: str) -> list[str]:
    base = root / inner if inner else root
    package = str(base / "__init__.py")
    return [f"{base}.py", package] if inner else [package]


@lru_cache(maxsize=CACHED)
def javascript_files(importer: str, module: str) -> Sequence[str]:
    """Return the files that a relative import of JavaScript may mean."""
    if not module.startswith("."):
        return []
    base = joined(str(PurePosixPath(importer).parent), module)
    stem = base.rpartition(".")[0] if base.endswith(_WRITTEN) else base
    found = [base] if PurePosixPath(base).suffix else []
    found += [f"{stem}.{ending}" for ending in _JAVASCRIPT]
    index = f"{base}/index" if base not in (".", "") else "index"
    return [*found, *(f"{index}.{ending}" for ending in _JAVASCRIPT)]


def joined(folder: str, relative: str) -> str:
    """Join a relative path to a folder, without `.` and `..`."""
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


@lru_cache(maxsize=CACHED)
def rust_submodule(importer: str, name: str) -> Sequence[str]:
    """Return the files that `mod name;` may mean."""
    path = PurePosixPath(importer)
    is_root = path.name in (*_CRATE_ROOTS, "mod.rs")
    folder = path.parent if is_root else path.parent / path.stem
    return [str(folder / f"{name}.rs"), str(folder / name / "mod.rs")]


@lru_cache(maxsize=CACHED)
def rust_parent(importer: str) -> Sequence[str]:
    """Return the files that may be the module around a file."""
    path = PurePosixPath(importer)
    folder = path.parent.parent if path.name == "mod.rs" else path.parent
    return [str(folder / "mod.rs"), f"{folder}.rs", *(str(folder / each) for each in _CRATE_ROOTS)]


def rust_roots(importer: str) -> Iterator[str]:
    """Yield the files that may be the root of a file's crate, the nearest first."""
    folder = PurePosixPath(importer).parent
    for each in [folder, *folder.parents][:MAX_ROOTS]:
        for name in _CRATE_ROOTS:
            yield str(each / name)


@lru_cache(maxsize=CACHED)
def rust_crates(importer: str, name: str) -> Sequence[str]:
    """Return the files that may be the root of another crate of the workspace."""
    if name in _FOREIGN_CRATES or not name.islower():
        return []
    folder = PurePosixPath(importer).parent
    crates = dict.fromkeys((name.replace("_", "-"), name))
    return [
        str(root / inner / crate / "src" / "lib.rs")
        for root in [folder, *folder.parents][:MAX_ROOTS]
        for inner in ("", "crates")
        for crate in crates
    ]


def may_mean(module: str, path: str, *, is_dotted: bool) -> bool:
    """Whether a module that no file was found for may be a file, by its name alone.

    Packages of a workspace and aliases of folders (`@shop/net/retry`) only build tools know.
    """
    stem = path.rpartition(".")[0].removesuffix("/__init__")
    if is_dotted:
        return bool(module) and f"/{stem}".endswith(f"/{module.replace('.', '/')}")
    named = {part for part in _PARTS.split(module) if part and part[0] not in "@~"}
    return not (named - _NAMELESS).isdisjoint(stem.split("/"))
