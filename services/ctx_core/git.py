"""Run git: the only file that starts it.

A repository is hostile: its configuration may name programs (hooks, filters, monitors, textconv,
signing, credential helpers, remote commands) and remotes that reading it would call. None of them
runs. git has no terminal, a deadline, and no network unless a caller asks for it.
"""

import atexit
import contextlib
import functools
import logging
import os
import re
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ctx_core.environment.child_environment import child_environment
from ctx_core.errors import GitFailed, GitLocked, GitTimedOut
from ctx_core.git_complaint import lock, reason

log = logging.getLogger(__name__)

READ_SECONDS = 120.0  # listing a million files takes a few
TRANSPORT_SECONDS = 60.0  # a push or a fetch of a few commits over a slow line
LOCKED = (
    "{} is in the way: another git works in this repository, or one crashed and left it. "
    "If no git is running, delete that file, then call again; nothing is lost."
)

NO_PROTOCOL = "none"  # no transport has this name, so none is allowed
SYNC_PROTOCOLS = "file:ssh:https"

# Ours, for every command: they win over the repository's own configuration.
CONFIG: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.fsync": "committed,loose-object,reference,index",  # by default power loss empties objects
    "safe.bareRepository": "explicit",  # a folder that looks like a repository is none
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "log.showSignature": "false",
    "mailmap.file": "",
    "log.mailmap": "false",
    "advice.pushUpdateRejected": "false",  # errors are short
    "gc.auto": "0",  # no process that outlives ours
    "maintenance.auto": "false",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
}
# Keys by which a repository names a program or what it is given; and what stands there instead.
# `true` and `false` are programs too: they do nothing.
DISARMED: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(r"filter\..*\.(?:clean|smudge|process)"), ""),
    (re.compile(r"filter\..*\.required"), "false"),
    (re.compile(r"merge\..*\.driver"), "false"),
    (re.compile(r"gpg(?:\..*)?\.program"), "false"),
    (re.compile(r"core\.alternaterefscommand"), "true"),
    (re.compile(r"core\.gitproxy"), ""),
]
# Files that git reads whole because a configuration says so: a pipe would hold it for ever.
FILE_KEYS = ("core.excludesfile", "core.attributesfile", "blame.ignorerevsfile")
FILES_OF_GIT = ("info/exclude", "info/attributes")
FILES_OF_FOLDER = (".gitignore", ".gitattributes", ".mailmap")

# Commands that run no configured program and read no excludes: their configuration is not listed.
PLUMBING = frozenset(
    "cat-file config diff-tree fast-import for-each-ref ls-tree merge-base remote rev-list "
    "rev-parse symbolic-ref update-ref var".split()
)
# Commands that read patterns from the repository's own folder.
EXCLUDING = frozenset("check-ignore ls-files status".split())
# What the other end runs; on a file path that is this machine. An option beats the configuration.
REMOTE_COMMANDS: Mapping[str, Sequence[str]] = {
    "fetch": ("--upload-pack=git-upload-pack",),
    "ls-remote": ("--upload-pack=git-upload-pack",),
    "push": ("--receive-pack=git-receive-pack",),
}
# Commands that call an external diff or a textconv program unless they are told not to.
DIFFING = frozenset("blame diff diff-files diff-index log show".split())
DIFF_OPTIONS = ("--no-ext-diff", "--no-textconv")
OPTIONS = {**dict.fromkeys(DIFFING, DIFF_OPTIONS), **REMOTE_COMMANDS}

# Of git's own variables only these reach it: others, such as GIT_DIR, lead to other repositories.
KEPT_VARIABLES = frozenset(
    "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_CONFIG_GLOBAL "
    "GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND "
    "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_CERT GIT_SSL_KEY GIT_CEILING_DIRECTORIES".split()
)
KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")

Pipe = int | IO[bytes]

_running: set[subprocess.Popen[bytes]] = set()
_running_lock = threading.Lock()


@dataclass(frozen=True)
class _Setting:
    """One line of git's configuration, and whether the repository itself brought it."""

    key: str
    value: str
    is_local: bool


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes | None:
    """Return what a reading command prints; None if it fails or there is no git. Blocks."""
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
    """Return what a command prints, or raise GitFailed, whose text holds no URL. Blocks.

    Only with `transport` may it talk to a remote, over a file path, ssh or https. One that prints
    more than `max_bytes` is stopped and has failed.
    """
    command = arguments[0]
    settings = [] if command in PLUMBING else _settings(folder)
    if command in EXCLUDING | DIFFING:
        _check_excludes(folder)
    config = {**CONFIG, **_disarmed(folder, settings)}
    rest = (*OPTIONS.get(command, ()), *arguments[1:])
    environment = _environment(config, transport)
    if transport:
        _check_promisors(settings)
        environment.update(_transport_environment(environment, settings))
    deadline = seconds or (TRANSPORT_SECONDS if transport else READ_SECONDS)
    helpers = _credential_options(settings) if transport else []
    started = [*helpers, "-C", str(folder), command, *rest]
    if max_bytes is None:
        return _start(started, command, environment, stdin, deadline)
    return _start_bounded(started, command, environment, stdin, deadline, max_bytes)


def stop_all() -> None:
    """Kill every git that is still running, at the end of the process."""
    with _running_lock:
        for process in _running:
            _kill(process)


atexit.register(stop_all)


# --- what the repository's configuration may do --------------------------------------------


def _settings(folder: Path) -> list[_Setting]:
    """Git's configuration for a folder. Listing it runs nothing."""
    listed = run_git(folder, "config", "--list", "--show-scope", "-z")
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for scope, item in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = item.partition("\n")
        found.append(_Setting(key, value, scope in ("local", "worktree")))
    return found


def _disarmed(folder: Path, settings: Iterable[_Setting]) -> dict[str, str]:
    """Replacements for local settings that name a program, and for files that are no files."""
    replaced = {}
    for setting in settings:
        key = setting.key.lower()
        if key in FILE_KEYS and not _is_harmless(folder, setting.value):
            replaced[setting.key] = os.devnull
        if setting.is_local:
            values = (value for pattern, value in DISARMED if pattern.fullmatch(key))
            replaced.update((setting.key, value) for value in values)
    return replaced


def _is_harmless(folder: Path, name: str) -> bool:
    """Whether reading the file ends: it is a regular one, or there is none."""
    path = folder / Path(name).expanduser()
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _check_excludes(folder: Path) -> None:
    """Raise GitFailed if a file of patterns here or above, as far as git reads, is no file."""
    options = [part for name in FILES_OF_GIT for part in ("--git-path", name)]
    listed = run_git(folder, "rev-parse", "--show-cdup", *options).decode().splitlines()
    above, paths = Path(listed[0]).parts, listed[1:]
    folders = [Path(*above[:number]) for number in range(len(above) + 1)]
    inside = [str(at / name) for at in folders for name in FILES_OF_FOLDER]
    for path in (*paths, *inside):
        if not _is_harmless(folder, path):
            raise GitFailed(f"{Path(path).name} of the repository is not a regular file.")


def _check_promisors(settings: Iterable[_Setting]) -> None:
    """Raise GitFailed if a remote with a command of its own supplies missing objects.

    git before 2.44 would run that command in the middle of another one.
    """
    keys = {setting.key.lower() for setting in settings if setting.is_local}
    lazy = [key.removesuffix(".promisor") for key in keys if key.endswith(".promisor")]
    if any(f"{remote}.uploadpack" in keys for remote in lazy):
        raise GitFailed("The repository's configuration names a command for missing objects.")


def _credential_options(settings: Sequence[_Setting]) -> list[str]:
    """Forget the credential helpers of the repository, keep those of the user."""
    trusted = [
        f"{setting.key}={setting.value}"
        for setting in settings
        if re.fullmatch(r"credential\.(?:.*\.)?helper", setting.key) and not setting.is_local
    ]
    return [part for item in ("credential.helper=", *trusted) for part in ("-c", item)]


@functools.lru_cache(maxsize=1)
def _own_settings() -> frozenset[str]:
    """Names of our settings: tokens and addresses that git has no use for."""
    from ctx_core.settings import env_names  # noqa: PLC0415 - 12 MB that no worker needs

    return frozenset(env_names())


def _is_inherited(name: str) -> bool:
    if not name.startswith("GIT_"):
        return name not in _own_settings()
    return name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)


def _environment(config: Mapping[str, str], transport: bool) -> dict[str, str]:
    environment = child_environment(_is_inherited)
    first = int(environment.get("GIT_CONFIG_COUNT", "0") or 0)  # after what the user set this way
    environment |= {
        "GIT_ALLOW_PROTOCOL": SYNC_PROTOCOLS if transport else NO_PROTOCOL,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": ":",
        "LC_ALL": "C",
        "GIT_CONFIG_COUNT": str(first + len(config)),
    }
    for number, (key, value) in enumerate(config.items(), first):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def _transport_environment(
    environment: Mapping[str, str], settings: Iterable[_Setting]
) -> dict[str, str]:
    """The ssh program: the user's own choice, never the repository's."""
    if "GIT_SSH_COMMAND" in environment or "GIT_SSH" in environment:
        return {}
    chosen = [s.value for s in settings if s.key == "core.sshcommand" and not s.is_local]
    return {"GIT_SSH_COMMAND": chosen[-1] if chosen else "ssh"}


# --- the process ---------------------------------------------------------------------------


def _start(
    arguments: Sequence[str], name: str, environment: Mapping[str, str], stdin: bytes, limit: float
) -> bytes:
    process = _opened(arguments, environment, subprocess.PIPE, subprocess.PIPE)
    with _tracked(process):
        try:
            printed, complaint = process.communicate(stdin, timeout=limit)
        except subprocess.TimeoutExpired:
            raise _timed_out(name, limit) from None
    if process.returncode:
        raise _failed(name, complaint, process.returncode)
    return printed


def _failed(name: str, complaint: bytes, exit_code: int) -> GitFailed:
    """Return the error of a command. A lock that a push or a fetch names may be the remote's."""
    if name not in REMOTE_COMMANDS and (left := lock(complaint)):
        return GitLocked(LOCKED.format(left), command=name, exit_code=exit_code)
    said = f"git {name} failed: {reason(complaint)}"
    return GitFailed(said, command=name, exit_code=exit_code)


def _timed_out(name: str, limit: float) -> GitTimedOut:
    return GitTimedOut(f"git {name} did not end within {limit:g} s and was stopped.", command=name)


def _opened(
    arguments: Sequence[str], environment: Mapping[str, str], stdin: Pipe, stderr: Pipe
) -> subprocess.Popen[bytes]:
    """Start git in a group of its own, so that what it starts ends with it."""
    try:
        return subprocess.Popen(
            ["git", *arguments],
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}. Install git.") from error


def _start_bounded(
    arguments: Sequence[str],
    name: str,
    environment: Mapping[str, str],
    stdin: bytes,
    limit: float,
    max_bytes: int,
) -> bytes:
    """Run git as `_start` does, reading no more than `max_bytes`; `stdin` is a file for it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        process = _opened(arguments, environment, given, complaints)
        timer = threading.Timer(limit, _kill, [process])
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout as pipe, _tracked(process):
                printed = pipe.read(max_bytes + 1)
                if len(printed) > max_bytes:
                    raise GitFailed(f"git {name} printed more than {max_bytes} bytes.")
                process.wait()
        finally:
            expired = not timer.is_alive()
            timer.cancel()
        if process.returncode:
            if expired:
                raise _timed_out(name, limit)
            complaints.seek(0)
            raise _failed(name, complaints.read(), process.returncode)
        return printed


@contextlib.contextmanager
def _tracked(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever happens, no git is left running."""
    with _running_lock:
        _running.add(process)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(process)
        if process.poll() is None:
            _kill(process)
        with contextlib.suppress(OSError):
            process.__exit__(None, None, None)  # close its pipes, wait for its end


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
