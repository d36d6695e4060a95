"""Swift."""

import re

from ctx_indexer.languages.protocol import Language, Tests
from ctx_indexer.languages.swift.symbols import SWIFT
from ctx_indexer.syntax.blanks import blank

_DIRECTIVE = re.compile(rb"^[ \t]{0,200}#(?:if|elseif|else|endif)\b[^\n]*+", re.MULTILINE)

# Syntax that is newer than the grammar: `throws(Failed)`, `sending Cart`, `#_sourceLocation`.
_NEWER = re.compile(
    rb"(?<=\bthrows)\([^()\n]{1,200}\)|(?<=\bnonisolated)\(unsafe\)|#(?=_)"
    rb"|(?<=: )(?:sending|isolated)(?= )"
)


def _without_newer_syntax(source: bytes) -> bytes:
    """Blank modifiers that the grammar does not know: `throws(Failed)` → `throws`."""
    return blank(source, [match.span() for match in _NEWER.finditer(source)])


def _without_directives(source: bytes) -> bytes:
    """Blank the lines of `#if` and its like: each branch between them is whole statements."""
    return blank(source, [match.span() for match in _DIRECTIVE.finditer(source)])


LANGUAGES = (
    Language(
        name="swift",
        revision=1,  # 1: symbols
        extensions="swift",
        interpreters="swift",
        symbols=SWIFT,
        tests=Tests(suffixed="swift", inline=r"^\s*@(?:Test|Suite)\b"),
        configuration=r"(?:^|/)Package\.swift$",
        generated=r"\.pb\.swift$",
        repairs=[_without_newer_syntax, _without_directives],
    ),
)
