"""Replacing a file: atomically, durably, and with nothing left behind."""

import os
from pathlib import Path

import pytest

from ctx_core.files import replace_file


def test_a_file_is_created_and_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    for text in ("first", "second, größer", ""):
        replace_file(file, text)
        assert file.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [file]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    replace_file(file, "old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(file, "x" * 100_000 + "\udc00")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_in_the_way_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "state.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "state.json", "text")
    assert list(tmp_path.iterdir()) == [tmp_path / "state.json"]


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    link = tmp_path / "link"
    link.symlink_to(outside)
    replace_file(link, "text")
    assert (outside.read_text(), link.read_text(), link.is_symlink()) == (
        "untouched",
        "text",
        False,
    )


def test_the_file_and_then_its_folder_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        synced.append((name, (tmp_path / "state.json").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    replace_file(tmp_path / "state.json", "text")
    [(partial, too_early), folder] = synced
    assert partial.startswith(".state.json.")
    assert not too_early
    assert folder == (tmp_path.name, True)
