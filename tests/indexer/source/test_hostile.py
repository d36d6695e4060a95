"""Hostile workspaces: nothing in them runs, leads outside, blocks or takes memory without bound."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ctx_indexer.source import listing
from ctx_indexer.source.listing import list_files
from ctx_indexer.source.walk import SkippedFile, SourceFile, walk
from tests.support.repositories import Repository, function

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.py").write_text("OUTSIDE = 1\n")
    return folder


def texts(root: Path) -> dict[str, str]:
    return {f.path: f.text(root) for f in walk(root) if isinstance(f, SourceFile)}


def reasons(root: Path) -> dict[str, str]:
    return {f.path: f.reason for f in walk(root) if isinstance(f, SkippedFile)}


def test_no_command_of_the_repository_runs(repository: Repository, tmp_path: Path) -> None:
    """A promisor remote names the program that is to serve a missing object."""
    ran = tmp_path / "ran"
    attack = tmp_path / "attack.sh"
    attack.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    attack.chmod(0o755)
    repository.write(".gitattributes", "*.py filter=evil diff=evil\n")
    repository.write(".gitignore", "*.log\n")
    repository.write("a.py", function("alpha"))
    repository.commit()
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(tmp_path / "nowhere"),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(attack),
        "core.fsmonitor": str(attack),
        "core.hooksPath": str(tmp_path / "hooks"),
        "core.sshCommand": str(attack),
        "filter.evil.clean": str(attack),
        "filter.evil.process": str(attack),
        "diff.evil.textconv": str(attack),
        "diff.external": str(attack),
    }.items():
        repository.git("config", key, value)
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(attack, tmp_path / "hooks" / hook)
    shutil.rmtree(repository.root / ".git/objects")  # every object is missing
    (repository.root / ".git/objects").mkdir()
    repository.write("b.py", function("beta"))
    assert {"a.py", "b.py"} <= set(texts(repository.root))
    assert not ran.exists()


def test_a_tracked_folder_that_became_a_link_brings_nothing_in(
    repository: Repository, outside: Path
) -> None:
    repository.write("lib/secret.py", "INSIDE = 1\n")
    repository.commit()
    shutil.rmtree(repository.root / "lib")
    (repository.root / "lib").symlink_to(outside)
    assert "OUTSIDE" not in "".join(texts(repository.root).values())
    assert reasons(repository.root)["lib/secret.py"] == "symlink"


def test_a_submodule_that_is_a_link_brings_nothing_in(
    repository: Repository, outside: Path
) -> None:
    other = Repository(outside)
    other.git("init", "-q")
    other.commit()
    commit = other.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},deps/other")
    (repository.root / "deps").mkdir()
    (repository.root / "deps/other").symlink_to(outside)
    (repository.root / "link").symlink_to(outside)
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},link")
    assert b"deps/other/secret.py" not in list_files(repository.root)
    assert texts(repository.root) == {}


def test_an_ignore_file_without_end_is_not_read(repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    (repository.root / ".ctxignore").symlink_to("/dev/zero")
    assert set(texts(repository.root)) == {"a.py"}


@pytest.mark.parametrize("name", [".gitignore", ".ctxignore"])
@pytest.mark.parametrize("under_git", [True, False])
def test_an_ignore_file_that_is_a_pipe_does_not_block(
    tmp_path: Path, name: str, under_git: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LISTING_SECONDS", 2.0)  # git itself waits for its own files
    root = tmp_path / "workspace"
    (root / "sub").mkdir(parents=True)
    if under_git:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "sub/a.py").write_text(function("alpha"))
    os.mkfifo(root / name)
    os.mkfifo(root / "sub" / name)
    os.mkfifo(root / "pipe.py")
    assert set(texts(root)) == {"sub/a.py"}
    assert reasons(root).get("pipe.py", "not a file") == "not a file"


@pytest.mark.timeout(20)
def test_git_is_not_waited_for_where_only_a_folder_inside_has_a_pipe(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listing, "PROMPT_SECONDS", 0.5)
    repository.write("a/b/c.py", function("alpha"))
    repository.write(".gitignore", "*.log\n")
    repository.write("a/d.log", "noise")
    os.mkfifo(repository.root / "a/b/.gitignore")
    assert list_files(repository.root) >= {b"a/b/c.py", b".gitignore"}
    assert b"a/d.log" not in list_files(repository.root)
    assert "a/b/.gitignore is not a regular file" in caplog.text
    monkeypatch.setattr(listing, "PROMPT_SECONDS", 60.0)
    assert set(texts(repository.root / "a/b")) == {"c.py"}


@pytest.mark.timeout(20)
def test_a_pipe_between_a_folder_and_the_top_of_its_repository_does_not_block(
    repository: Repository,
) -> None:
    repository.write("a/b/c.py", function("alpha"))
    os.mkfifo(repository.root / "a/.gitignore")
    assert set(texts(repository.root / "a/b")) == {"c.py"}


def test_a_slow_git_is_asked_again(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("a.log", "noise")
    repository.write(".git/info/exclude", "*.log\n")  # known to git alone
    repository.write("a.py", function("alpha"))
    monkeypatch.setattr(listing, "PROMPT_SECONDS", 0.0001)
    assert list_files(repository.root) == {b"a.py"}


def test_an_excludes_file_that_is_a_pipe_does_not_block(
    repository: Repository, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    repository.write("a.py", function("alpha"))
    repository.git("config", "core.excludesFile", str(tmp_path / "pipe"))
    assert set(texts(repository.root)) == {"a.py"}


def test_an_ignore_file_that_is_far_too_large_is_not_used(
    repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write(".ctxignore", "a.py\n" * 100_000)
    assert "a.py" in texts(repository.root)
    assert "larger than" in caplog.text
