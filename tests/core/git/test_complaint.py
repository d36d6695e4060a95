"""What errors tell of git's complaints."""

import pytest

from ctx_core.git.complaint import lock, reason


@pytest.mark.parametrize(
    ("complaint", "shown"),
    [
        ("fatal: unable to access 'https://u:p@host.example/r/': no", "'<remote>"),
        ("git@host.example: Permission denied (publickey).", "<remote> Permission denied"),
        ("ssh: Could not resolve hostname host.example: unknown", "hostname <remote>: unknown"),
        ("fatal: Could not resolve host: host.example", "host: <remote>"),
        ("connect to host host.example port 22: refused", "host <remote> port 22"),
        ("fatal: Failed to connect to host.example port 1: no", "connect to <remote> port 1"),
        ("remote: no\nTo /srv/example/r.git\n ! [remote rejected] x -> main", "no\n ! [remote"),
    ],
)
def test_a_complaint_names_no_user_and_no_host(complaint: str, shown: str) -> None:
    shortened = reason(complaint.encode())
    assert shown in shortened
    assert "example" not in shortened


def test_a_complaint_names_files_without_their_folders() -> None:
    shortened = reason(b"fatal: cannot open '/home/ann/my shop/a.py': no")
    assert shortened == "fatal: cannot open 'a.py': no"


@pytest.mark.parametrize(
    ("complaint", "left"),
    [
        ("fatal: Unable to create '/home/ann/my shop/.git/index.lock': File exists.\n\nAnother "
         + "git process seems to be running. " * 20, ".git/index.lock"),
        ("fatal: update_ref failed for ref 'HEAD': cannot lock ref 'HEAD': Unable to create "
         "'/a/.git/worktrees/b/HEAD.lock': File exists.", ".git/worktrees/b/HEAD.lock"),
        ("fatal: Unable to create '/srv/kept-apart/index.lock': File exists.", "index.lock"),
        ("fatal: Unable to create '/a/.git/index.lock': Permission denied", None),
    ],
)  # fmt: skip
def test_a_lock_is_named_from_the_repository_on(complaint: str, left: str | None) -> None:
    assert lock(complaint.encode()) == left
