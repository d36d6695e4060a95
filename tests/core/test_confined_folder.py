"""Files of a hostile folder: nothing outside is read or written, nothing blocks."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx_core import confined_folder
from ctx_core.confined_folder import ConfinedFolder, Entry, NotAFile, NotConfined


@pytest.fixture(params=["by folder", "by path"])
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ConfinedFolder]:
    """A folder opened part by part, and as where that is not possible."""
    if request.param == "by path":
        monkeypatch.setattr(confined_folder, "OPENS_BY_FOLDER", False)
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file.txt").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file.txt").write_text("outside")
    with ConfinedFolder(root) as opened:
        yield opened


def test_files_are_read_up_to_a_limit(folder: ConfinedFolder) -> None:
    assert folder.read("a/b/file.txt", 100) == b"inside"
    assert folder.read("a/b/file.txt", 2) == b"in"
    assert folder.status("a/b/file.txt").st_size == 6
    assert folder.entries("a") == [Entry("b", True)]
    assert folder.entries() == [Entry("a", True)]
    assert folder.has_folder("a/b")
    assert not folder.has_folder("a/b/file.txt")
    assert not folder.has_folder("a/c")
    with pytest.raises(FileNotFoundError):
        folder.read("a/none.txt", 100)
    with pytest.raises(FileNotFoundError):
        folder.status("a/b/none.txt")


def test_links_are_not_followed(folder: ConfinedFolder, tmp_path: Path) -> None:
    (folder.root / "link.txt").symlink_to(tmp_path / "outside/file.txt")
    (folder.root / "zero").symlink_to("/dev/zero")
    (folder.root / "linked").symlink_to(tmp_path / "outside")
    (folder.root / "within").symlink_to("a/b")
    (folder.root / "loop").symlink_to("loop")
    for path in ("link.txt", "zero", "linked/file.txt", "within/file.txt", "loop", "loop/x"):
        with pytest.raises(NotConfined):
            folder.read(path, 100)
    with pytest.raises(NotConfined):
        folder.status("linked/file.txt")
    with pytest.raises(NotConfined):
        folder.entries("linked")
    assert not folder.has_folder("linked")
    assert not folder.has_folder("within")


@pytest.mark.parametrize(
    "path",
    ["../outside/file.txt", "a/../../outside/file.txt", "/etc/passwd", "", "a//b", ".", "a/", "\0"],
)
def test_paths_that_leave_the_folder_are_refused(folder: ConfinedFolder, path: str) -> None:
    with pytest.raises(NotConfined):
        folder.read(path, 100)


@pytest.mark.timeout(20)
def test_pipes_sockets_and_folders_are_no_files(
    folder: ConfinedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder.root / "pipe")
    monkeypatch.chdir(folder.root)
    with socket.socket(socket.AF_UNIX) as served:
        served.bind("socket")
        for path in ("pipe", "socket", "a"):
            with pytest.raises(NotAFile):
                folder.read(path, 100)


def test_a_folder_that_becomes_a_link_is_noticed(folder: ConfinedFolder, tmp_path: Path) -> None:
    folder.read("a/b/file.txt", 100)
    folder.close()
    (folder.root / "a").rename(folder.root / "away")
    (folder.root / "a").symlink_to(tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/file.txt").write_text("outside")
    with pytest.raises(NotConfined):
        folder.read("a/b/file.txt", 100)


def test_files_are_written_inside_only(folder: ConfinedFolder, tmp_path: Path) -> None:
    folder.make_folder("state")
    folder.make_folder("state")
    folder.replace("state/file.txt", "first")
    folder.replace("state/file.txt", "second")
    assert (folder.root / "state/file.txt").read_text() == "second"
    assert folder.entries("state") == [Entry("file.txt", False)]

    (folder.root / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(NotConfined):
        folder.make_folder("linked")
    with pytest.raises(NotConfined):
        folder.replace("linked/file.txt", "overwritten")
    assert (tmp_path / "outside/file.txt").read_text() == "outside"
    (folder.root / "plain").write_text("a file")
    with pytest.raises(NotConfined):
        folder.make_folder("plain")


def test_nothing_stays_open(folder: ConfinedFolder) -> None:
    fds = Path("/proc/self/fd")
    if not fds.exists():
        pytest.skip("no /proc")
    os.mkfifo(folder.root / "pipe")
    before = len(list(fds.iterdir()))
    for _ in range(20):
        for path in ("a/b/file.txt", "pipe", "a", "none", "a/b/none", "../x"):
            try:
                folder.read(path, 10)
            except OSError:
                continue
    folder.close()
    assert len(list(fds.iterdir())) <= before
