"""Asking git: the only file that runs it."""

import subprocess
from pathlib import Path

SECONDS = 120.0  # listing a million files takes a few
# A repository's own configuration may name programs to run; asking needs none of them.
COMMAND = ("git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")


def git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it fails or there is none. Blocking."""
    try:
        done = subprocess.run(
            [*COMMAND, "-C", str(folder), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def git_line(folder: Path, *arguments: str) -> str | None:
    """The same as text, None where it is empty."""
    printed = git(folder, *arguments) or b""
    return printed.decode("utf-8", "surrogateescape").strip() or None
