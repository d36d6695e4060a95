"""Complaints of git: the end of one for an error, without addresses and folders; a lock."""

import re

REASON_LENGTH = 300  # of a complaint in an error: its last lines have the reason

_LOCK = re.compile(r"Unable to create '(?:[^'\n]*?/)??(\.git/[^'\n]+|[^'/\n]+)\.lock': File exists")
_FOLDERS = re.compile(r"'[^'\n]*/([^'/\n]*)'")  # in quotes, before a file's own name
_WORD = re.compile(r"\S+")
_HOST = re.compile(r"\b(host(?:name)?:? |connect to (?!host ))[^\s:]+")
_DESTINATION = re.compile(r"^To \S.*\n", re.MULTILINE)  # of a push: the remote, as configured
_QUOTES = "'\"(<"  # before an address in a sentence


def lock(complaint: bytes) -> str | None:
    """Return the lock file that stopped git, from `.git` on; None where it was no lock."""
    found = _LOCK.search(complaint.decode("utf-8", "replace"))
    return f"{found[1]}.lock" if found else None


def reason(complaint: bytes) -> str:
    """Return the end of a complaint, without addresses, which may hold credentials, and folders."""
    text = _DESTINATION.sub("", complaint.decode("utf-8", "replace").strip())
    text = _WORD.sub(_without_address, text)
    text = _HOST.sub(r"\1<remote>", text)
    return _FOLDERS.sub(r"'\1'", text)[-REASON_LENGTH:] or "it gave no reason"


def _without_address(word: re.Match[str]) -> str:
    """Return a word of a complaint, or a mark for one that names a URL or a user."""
    text = word.group()
    if "://" not in text and "@" not in text:
        return text
    return text[: len(text) - len(text.lstrip(_QUOTES))] + "<remote>"
