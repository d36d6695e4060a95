"""Run git: the only room that starts it.

A repository is hostile: its configuration may name programs (hooks, filters, monitors, textconv,
signing, credential helpers, remote commands) and remotes that reading it would call. None of them
runs. git has no terminal, a deadline, and no network unless a caller asks for it.
"""

import logging
from pathlib import Path

from ctx_core.errors import GitFailed
from ctx_core.git.configuration import (
    CONFIG,
    DIFFING,
    OPTIONS,
    Setting,
    check_promisors,
    credential_options,
    disarmed,
    is_harmless,
    parse_settings,
)
from ctx_core.git.environment import git_environment, transport_environment
from ctx_core.git.process import start, start_bounded

log = logging.getLogger(__name__)

READ_SECONDS = 120.0  # listing a million files takes a few
TRANSPORT_SECONDS = 60.0  # a push or a fetch of a few commits over a slow line
# Commands that run no configured program and read no excludes: their configuration is not listed.
PLUMBING = frozenset(
    "cat-file config diff-tree fast-import for-each-ref ls-tree merge-base remote rev-list "
    "rev-parse symbolic-ref update-ref var".split()
)
# Commands that read patterns from the repository's own folder.
EXCLUDING = frozenset("check-ignore ls-files status".split())
# Files of patterns that git reads whole.
FILES_OF_GIT = ("info/exclude", "info/attributes")
FILES_OF_FOLDER = (".gitignore", ".gitattributes", ".mailmap")


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes | None:
    """Return the output of a reading command; None if it fails or there is no git. Blocks."""
    try:
        return run_git(folder, *arguments, stdin=stdin)
    except GitFailed as error:
        log.debug("%s", error)
        return None


def git_line(folder: Path, *arguments: str) -> str | None:
    """Return the output as text without surrounding blanks; None if it is empty. Blocks."""
    printed = git(folder, *arguments) or b""
    return printed.decode("utf-8", "surrogateescape").strip() or None


def run_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    transport: bool = False,
    seconds: float | None = None,
    max_bytes: int | None = None,
) -> bytes:
    """Return the output of a command, or raise GitFailed, whose text holds no URL. Blocks.

    Only with `transport` may it talk to a remote, over a file path, ssh or https. One that prints
    more than `max_bytes` is stopped and has failed.
    """
    command = arguments[0]
    settings = [] if command in PLUMBING else _settings(folder)
    if command in EXCLUDING | DIFFING:
        _check_excludes(folder)
    config = {**CONFIG, **disarmed(folder, settings)}
    rest = (*OPTIONS.get(command, ()), *arguments[1:])
    environment = git_environment(config, transport)
    if transport:
        check_promisors(settings)
        environment.update(transport_environment(environment, settings))
    deadline = seconds or (TRANSPORT_SECONDS if transport else READ_SECONDS)
    helpers = credential_options(settings) if transport else []
    started = [*helpers, "-C", str(folder), command, *rest]
    if max_bytes is None:
        return start(started, command, environment, stdin, deadline)
    return start_bounded(started, command, environment, stdin, deadline, max_bytes)


def _settings(folder: Path) -> list[Setting]:
    """Ask git for its configuration in a folder. Listing it runs nothing."""
    return parse_settings(run_git(folder, "config", "--list", "--show-scope", "-z"))


def _check_excludes(folder: Path) -> None:
    """Raise GitFailed if a file of patterns here or above, as far as git reads, is no file.

    A pipe named `.gitignore` would hold git for ever.
    """
    options = [part for name in FILES_OF_GIT for part in ("--git-path", name)]
    listed = run_git(folder, "rev-parse", "--show-cdup", *options).decode().splitlines()
    above, paths = Path(listed[0]).parts, listed[1:]
    folders = [Path(*above[:number]) for number in range(len(above) + 1)]
    inside = [str(at / name) for at in folders for name in FILES_OF_FOLDER]
    for path in (*paths, *inside):
        if not is_harmless(folder, path):
            raise GitFailed(f"{Path(path).name} of the repository is not a regular file.")
