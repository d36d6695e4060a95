"""Disarm the configuration of a repository: nothing that it names runs."""

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.errors import GitFailed

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
# Keys by which a repository names a program or its input, and the values that replace theirs.
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

# The program at the other end; on a file path it runs here. An option beats the configuration.
REMOTE_COMMANDS: Mapping[str, Sequence[str]] = {
    "fetch": ("--upload-pack=git-upload-pack",),
    "ls-remote": ("--upload-pack=git-upload-pack",),
    "push": ("--receive-pack=git-receive-pack",),
}
# Commands that call an external diff or a textconv program unless they are told not to.
DIFFING = frozenset("blame diff diff-files diff-index log show".split())
DIFF_OPTIONS = ("--no-ext-diff", "--no-textconv")
OPTIONS = {**dict.fromkeys(DIFFING, DIFF_OPTIONS), **REMOTE_COMMANDS}


@dataclass(frozen=True)
class Setting:
    """One line of git's configuration, and whether the repository itself brought it."""

    key: str
    value: str
    is_local: bool


def parse_settings(listed: bytes) -> list[Setting]:
    """Read the output of `git config --list --show-scope -z`."""
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for scope, item in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = item.partition("\n")
        found.append(Setting(key, value, scope in ("local", "worktree")))
    return found


def disarmed(folder: Path, settings: Iterable[Setting]) -> dict[str, str]:
    """Replace local settings that name a program, and names of files that are no files.

    `filter.lfs.clean=rm -rf .` of the repository → `filter.lfs.clean=`.
    """
    replaced = {}
    for setting in settings:
        key = setting.key.lower()
        if key in FILE_KEYS and not is_harmless(folder, setting.value):
            replaced[setting.key] = os.devnull
        if setting.is_local:
            values = (value for pattern, value in DISARMED if pattern.fullmatch(key))
            replaced.update((setting.key, value) for value in values)
    return replaced


def is_harmless(folder: Path, name: str) -> bool:
    """Whether reading the file ends: it is a regular one, or there is none."""
    path = folder / Path(name).expanduser()
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def check_promisors(settings: Iterable[Setting]) -> None:
    """Raise GitFailed if a remote with a command of its own supplies missing objects.

    git before 2.44 would run that command in the middle of another one.
    """
    keys = {setting.key.lower() for setting in settings if setting.is_local}
    lazy = [key.removesuffix(".promisor") for key in keys if key.endswith(".promisor")]
    if any(f"{remote}.uploadpack" in keys for remote in lazy):
        raise GitFailed("The repository's configuration names a command for missing objects.")


def credential_options(settings: Sequence[Setting]) -> list[str]:
    """Return the options that forget the repository's credential helpers and keep the user's."""
    trusted = [
        f"{setting.key}={setting.value}"
        for setting in settings
        if re.fullmatch(r"credential\.(?:.*\.)?helper", setting.key) and not setting.is_local
    ]
    return [part for item in ("credential.helper=", *trusted) for part in ("-c", item)]
