"""git on hostile repositories: nothing that they name is run, and nothing hangs."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ctx_core.errors import GitFailed
from ctx_core.git import process
from ctx_core.git.run import git, git_line, run_git
from tests.support.repositories import Repository

PATIENCE_SECONDS = 20.0  # far less than the deadline of git, more than a busy machine needs


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "repo")
    made.write("a.txt", "one\n")
    made.write(".gitignore", "*.log\n")
    made.commit()
    return made


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that only a program of the repository would make."""
    return tmp_path / "it-ran"


def program(marker: Path) -> str:
    """A shell command that leaves the marker and passes its input through."""
    return f"touch {marker}; cat"


def script(path: Path, marker: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {marker}\n")
    path.chmod(0o755)
    return path


# --- programs that a repository names ------------------------------------------------------


def promisor(repo: Repository, marker: Path) -> None:
    """A missing object is fetched by a command of the repository's choice."""
    blob = repo.git("rev-parse", "HEAD:.gitignore")
    repo.git("update-index", "--skip-worktree", ".gitignore")
    repo.remove(".gitignore")
    (repo.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    repo.write("new.txt", "")  # git reads the excludes to list it
    repo.git("config", "remote.evil.url", ".")
    repo.git("config", "remote.evil.promisor", "true")
    repo.git("config", "remote.evil.uploadpack", f"touch {marker}; false")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "evil")


def monitor(repo: Repository, marker: Path) -> None:
    repo.git("config", "core.fsmonitor", str(script(repo.root / ".git/monitor", marker)))


def clean_filter(repo: Repository, marker: Path) -> None:
    repo.write(".gitattributes", "* filter=evil\n")
    repo.git("config", "filter.evil.clean", program(marker))
    repo.git("config", "filter.evil.required", "true")
    repo.write("a.txt", "two\n")
    os.utime(repo.root / "a.txt", (1, 1))


def process_filter(repo: Repository, marker: Path) -> None:
    clean_filter(repo, marker)
    repo.git("config", "--unset", "filter.evil.clean")
    repo.git("config", "filter.evil.process", program(marker))


def textconv(repo: Repository, marker: Path) -> None:
    repo.write(".gitattributes", "* diff=evil\n")
    repo.git("config", "diff.evil.textconv", str(script(repo.root / ".git/conv", marker)))


def external_diff(repo: Repository, marker: Path) -> None:
    repo.git("config", "diff.external", str(script(repo.root / ".git/differ", marker)))
    repo.write("a.txt", "two\n")


def signature(repo: Repository, marker: Path) -> None:
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "gpg.program", str(script(repo.root / ".git/gpg", marker)))
    signed = repo.git("cat-file", "commit", "HEAD").replace(
        "\ncommitter",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\ncommitter",
        1,
    )
    lines = signed.split("\n")
    position = next(n for n, line in enumerate(lines) if line.startswith("committer"))
    head = [line for line in lines[:position] if not line.startswith((" ", "gpgsig"))]
    signature_lines = [line for line in lines[:position] if line.startswith((" ", "gpgsig"))]
    text = "\n".join([*head, lines[position], *signature_lines, *lines[position + 1 :], ""])
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repo.root, input=text, text=True, check=True, capture_output=True,
    )  # fmt: skip
    repo.git("update-ref", "HEAD", made.stdout.strip())


def hook(repo: Repository, marker: Path) -> None:
    script(repo.root / ".git/hooks/reference-transaction", marker)


def embedded_bare(repo: Repository, marker: Path) -> None:
    """A folder of the work tree that is itself a bare repository."""
    bare = repo.root / "inner"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    with (bare / "config").open("a") as file:
        file.write(
            f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = touch {marker}; false\n"
        )


ATTACKS: list[tuple[Callable[[Repository, Path], None], tuple[str, ...], str]] = [
    (promisor, ("ls-files", "-o", "--exclude-standard"), "."),
    (monitor, ("status", "--porcelain"), "."),
    (clean_filter, ("status", "--porcelain"), "."),
    (process_filter, ("status", "--porcelain"), "."),
    (textconv, ("log", "-p", "-1"), "."),
    (textconv, ("blame", "a.txt"), "."),
    (external_diff, ("diff",), "."),
    (signature, ("log", "-1"), "."),
    (hook, ("update-ref", "refs/heads/other", "HEAD"), "."),
    (embedded_bare, ("status", "--porcelain"), "inner"),
]


@pytest.mark.parametrize(("attack", "command", "folder"), ATTACKS)
def test_no_program_of_the_repository_runs(
    repo: Repository,
    marker: Path,
    attack: Callable[[Repository, Path], None],
    command: tuple[str, ...],
    folder: str,
) -> None:
    attack(repo, marker)
    marker.unlink(missing_ok=True)  # git itself may have run it while we set the trap
    git(repo.root / folder, *command)
    assert not marker.exists()


@pytest.mark.parametrize(("attack", "command", "folder"), ATTACKS)
def test_the_traps_work(
    repo: Repository,
    marker: Path,
    attack: Callable[[Repository, Path], None],
    command: tuple[str, ...],
    folder: str,
) -> None:
    """Plain git runs each of these programs; else the test above would prove nothing."""
    attack(repo, marker)
    marker.unlink(missing_ok=True)
    subprocess.run(
        ["git", "-C", str(repo.root / folder), *command], capture_output=True, check=False
    )
    assert marker.exists()


def test_a_filter_that_is_required_does_not_stop_a_status(repo: Repository, marker: Path) -> None:
    clean_filter(repo, marker)
    assert b"a.txt" in (git(repo.root, "status", "--porcelain") or b"")


def test_credential_helpers_of_the_repository_are_forgotten(
    repo: Repository, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "gitconfig"
    own.write_text('[credential]\n\thelper = "!echo username=me; echo password=mine; true"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    repo.git("config", "credential.helper", f"!touch {marker};")
    repo.git("config", "credential.https://example.org.helper", f"!touch {marker};")
    asked = b"protocol=https\nhost=example.org\n\n"
    printed = run_git(repo.root, "credential", "fill", stdin=asked, transport=True)
    assert b"password=mine" in printed
    assert not marker.exists()


# --- transports ----------------------------------------------------------------------------


def test_no_transport_unless_it_is_asked_for(repo: Repository, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    other.write("b.txt", "b")
    other.commit()
    repo.git("remote", "add", "origin", str(other.root))
    with pytest.raises(GitFailed, match="not allowed"):
        run_git(repo.root, "fetch", "origin")
    run_git(repo.root, "fetch", "origin", transport=True)
    assert git_line(repo.root, "rev-parse", "origin/main") == other.git("rev-parse", "HEAD")


@pytest.mark.parametrize("url", ["ext::sh -c 'touch {marker}; false'", "git://127.0.0.1/x"])
def test_other_protocols_are_never_allowed(repo: Repository, marker: Path, url: str) -> None:
    repo.git("config", "protocol.allow", "always")
    repo.git("remote", "add", "origin", url.format(marker=marker))
    with pytest.raises(GitFailed, match="not allowed"):
        run_git(repo.root, "fetch", "origin", transport=True)
    assert not marker.exists()


def test_remote_commands_of_the_repository_are_not_run(
    repo: Repository, marker: Path, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    other.write("b.txt", "b")
    other.commit()
    repo.git("remote", "add", "origin", str(other.root))
    repo.git("config", "remote.origin.uploadpack", f"touch {marker}; git-upload-pack")
    repo.git("config", "remote.origin.receivepack", f"touch {marker}; git-receive-pack")
    run_git(repo.root, "fetch", "origin", transport=True)
    run_git(repo.root, "push", "origin", "HEAD:refs/heads/new", transport=True)
    assert not marker.exists()


def test_the_ssh_command_of_the_repository_is_not_run(repo: Repository, marker: Path) -> None:
    repo.git("remote", "add", "origin", "ssh://me@127.0.0.1:1/x")
    repo.git("config", "core.sshCommand", f"touch {marker}; false")
    with pytest.raises(GitFailed):
        run_git(repo.root, "fetch", "origin", transport=True)
    assert not marker.exists()


@pytest.mark.parametrize(
    "url", ["https://me:hunter2@127.0.0.1:1/x.git", "ssh://me:hunter2@127.0.0.1:1/x"]
)
def test_errors_hold_no_address_and_no_credentials(repo: Repository, url: str) -> None:
    repo.git("remote", "add", "origin", url)
    with pytest.raises(GitFailed) as refused:
        run_git(repo.root, "fetch", "origin", transport=True)
    message = f"{refused.value.message} {refused.value.details}"
    assert "hunter2" not in message
    assert "me@" not in message
    assert "://" not in message


# --- waiting and ending --------------------------------------------------------------------


@pytest.mark.parametrize("where", ["core.excludesFile", "info/exclude"])
def test_excludes_that_are_no_files_do_not_hang(
    repo: Repository, tmp_path: Path, where: str
) -> None:
    pipe = tmp_path / "pipe" if "." in where else repo.root / ".git" / where
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    if "." in where:
        repo.git("config", where, str(pipe))
    started = time.monotonic()
    listed = git(repo.root, "ls-files", "--others", "--exclude-standard")
    assert time.monotonic() - started < PATIENCE_SECONDS
    assert listed == (b"" if "." in where else None)


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".mailmap"])
@pytest.mark.parametrize("command", [("ls-files", "--others", "--exclude-standard"), ("log", "-1")])
def test_pipes_that_git_would_read_do_not_hold_it(
    repo: Repository, name: str, command: tuple[str, ...]
) -> None:
    (repo.root / name).unlink(missing_ok=True)
    os.mkfifo(repo.root / name)
    inside = repo.root / "inside"
    inside.mkdir()
    started = time.monotonic()
    for folder in (repo.root, inside):
        with pytest.raises(GitFailed, match=f"{name} of the repository is not a regular file"):
            run_git(folder, *command)
    assert time.monotonic() - started < PATIENCE_SECONDS


def test_a_command_that_takes_too_long_is_killed_with_what_it_started(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "pid"
    monkeypatch.setenv("GIT_SSH_COMMAND", f"echo $$ > {note}; sleep 60 #")
    repo.git("remote", "add", "origin", "ssh://127.0.0.1:1/x")
    with pytest.raises(GitFailed, match="did not end within 1 s"):
        run_git(repo.root, "fetch", "origin", transport=True, seconds=1.0)
    pid, until = int(note.read_text()), time.monotonic() + PATIENCE_SECONDS
    while _is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _is_alive(pid)
    assert process._running == set()


def _is_alive(pid: int) -> bool:
    """A killed process may wait for its parent to notice."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_variables_of_another_repository_do_not_lead_there(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository.create(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    assert git_line(repo.root, "rev-parse", "--show-toplevel") == str(repo.root)


def test_our_secrets_are_not_handed_to_git(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "environment"
    monkeypatch.setenv("QDRANT_API_KEY", "hunter2")
    monkeypatch.setenv("GIT_SSH_COMMAND", f"env > {seen}; false")
    repo.git("remote", "add", "origin", "ssh://127.0.0.1:1/x")
    with pytest.raises(GitFailed):
        run_git(repo.root, "fetch", "origin", transport=True)
    assert "hunter2" not in seen.read_text()


# --- reading and writing -------------------------------------------------------------------


def test_reading_gives_none_and_writing_raises(repo: Repository, tmp_path: Path) -> None:
    assert git(repo.root, "rev-parse", "HEAD:nothing") is None
    assert git(tmp_path / "missing", "status") is None
    assert git_line(repo.root, "ls-files", "nothing") is None
    with pytest.raises(GitFailed, match="git update-ref failed"):
        run_git(repo.root, "update-ref", "refs/heads/x", "0" * 39 + "1")


def test_configuration_that_the_user_sets_by_variables_stays(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "From Environment")
    assert git_line(repo.root, "config", "user.name") == "From Environment"
    assert git_line(repo.root, "config", "core.fsmonitor") == "false"
