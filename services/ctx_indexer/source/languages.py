"""Detects the language of a file by its name, its extension, or its first line."""

import re

from ctx_indexer.languages.protocol import UNKNOWN
from ctx_indexer.languages.registry import (
    CONTENT_RULES,
    EXTENSIONS,
    FILE_NAMES,
    INTERPRETERS,
    LANGUAGES,
    MODES,
    SUFFIXED_NAMES,
)

HEAD_BYTES = 512  # enough for a shebang and a mode line
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z_+-]+)")
_MODELINE = re.compile(rb"-\*-(.*?)-\*-")


def language_of(path: str, content: bytes = b"") -> str:
    """Detect a language by the file name; content decides where languages share an extension."""
    name = path.rsplit("/", 1)[-1]
    if known := FILE_NAMES.get(name):
        return known
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return _by_prefix(name) or _by_shebang(content) or UNKNOWN
    extension = extension.lower()
    if rules := CONTENT_RULES.get(extension):
        return next(language for is_of, language in rules if is_of(content))
    return EXTENSIONS.get(extension) or _by_prefix(name) or _by_shebang(content) or UNKNOWN


def _by_prefix(name: str) -> str | None:
    """Detect a known name with a suffix, such as `Dockerfile.dev`."""
    return SUFFIXED_NAMES.get(name.split(".", 1)[0])


def _by_shebang(content: bytes) -> str | None:
    head = content[:HEAD_BYTES]
    if match := _SHEBANG.match(head):
        interpreter = match.group(1).decode("ascii")
        return INTERPRETERS.get(interpreter) or INTERPRETERS.get(interpreter.rstrip("-"))
    if match := _MODELINE.search(head):
        mode = _mode(match.group(1).decode("latin-1"))
        return MODES.get(mode) or (mode if mode in LANGUAGES else None)
    return None


def _mode(line: str) -> str:
    """Return the mode of a mode line: `C++`, or `mode: C++; coding: utf-8`."""
    for item in line.split(";"):
        name, _, value = item.rpartition(":")
        if name.strip() in ("", "mode"):
            return value.strip().lower()
    return ""
