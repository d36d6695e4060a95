"""The files that paths of Rust's modules and crates may mean, best first."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

CACHED = 10_000
MAX_ROOTS = 12  # folders above a file that may be the root of its crate
_CRATE_ROOTS = ("lib.rs", "main.rs")
_FOREIGN_CRATES = frozenset(["std", "core", "alloc"])


@lru_cache(maxsize=CACHED)
def submodule(importer: str, name: str) -> Sequence[str]:
    """Return the files of a module: `cart` in `shop.rs` → `shop/cart.rs`, `shop/cart/mod.rs`."""
    path = PurePosixPath(importer)
    is_root = path.name in (*_CRATE_ROOTS, "mod.rs")
    folder = path.parent if is_root else path.parent / path.stem
    return [str(folder / f"{name}.rs"), str(folder / name / "mod.rs")]


@lru_cache(maxsize=CACHED)
def parents(importer: str) -> Sequence[str]:
    """Return the files that may be the module around a file: `a/b.rs` → `a/mod.rs`, `a.rs`, …."""
    path = PurePosixPath(importer)
    folder = path.parent.parent if path.name == "mod.rs" else path.parent
    return [str(folder / "mod.rs"), f"{folder}.rs", *(str(folder / each) for each in _CRATE_ROOTS)]


def roots(importer: str) -> Iterator[str]:
    """Yield the files that may be the root of a file's crate, the nearest first."""
    folder = PurePosixPath(importer).parent
    for each in [folder, *folder.parents][:MAX_ROOTS]:
        for name in _CRATE_ROOTS:
            yield str(each / name)


@lru_cache(maxsize=CACHED)
def crates(importer: str, name: str) -> Sequence[str]:
    """Return the files that may be the root of a crate: `shop` → `crates/shop/src/lib.rs`, …."""
    if name in _FOREIGN_CRATES or not name.islower():
        return []
    folder = PurePosixPath(importer).parent
    names = dict.fromkeys((name.replace("_", "-"), name))
    return [
        str(root / inner / crate / "src" / "lib.rs")
        for root in [folder, *folder.parents][:MAX_ROOTS]
        for inner in ("", "crates")
        for crate in names
    ]
