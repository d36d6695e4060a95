"""What a person reads: paths that can be opened where the command was called."""

from pathlib import Path

import pytest

from ctx.terminal import from_here, path_from_here
from tests.support.repositories import Repository


def test_paths_are_written_as_they_are_opened_from_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Repository.create(tmp_path / "shop")
    for name in ("readme.md", "docs/readme.md", "shop/cart.py"):
        shop.write(name, "text\n")
    monkeypatch.chdir(shop.root / "docs")
    written = {
        "readme.md": "../readme.md",  # the server's workspace is this checkout
        "docs/readme.md": "readme.md",
        "shop/docs/readme.md": "readme.md",  # it is the folder around it
        "shop/shop/cart.py": "../shop/cart.py",
        str(shop.root / "docs" / "readme.md"): "readme.md",  # it is somewhere else
        "gone.py": "gone.py",
        "/etc/hostname": "/etc/hostname",
    }
    assert {path: path_from_here(path) for path in written} == written
    assert from_here(f"getattr at {shop.root}/docs/readme.md:1") == "getattr at readme.md:1"
