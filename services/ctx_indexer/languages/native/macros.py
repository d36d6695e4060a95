"""Macros of C and C++, which a grammar does not know: blanked where they would be misread."""

import re
from collections.abc import Iterator

from ctx_indexer.syntax.blanks import Bytes, blank

# A macro of C and C++, told by its name: `SHOP_INLINE`, `SHOPAPI`, `EXPORT`.
_MACRO = rb"\b(?:[A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{0,80}|[A-Z0-9]{0,40}(?:API|EXPORT))\b"
_ARGUMENTS = rb"(?:\([^()\n]{0,200}\))?"
_WORD = rb"[A-Za-z_~][\w:]{0,200}"
_TEMPLATE = rb"(?:<[^;{}()\n]{0,200}>)?"
# `class API Name {` reads as a function; `API` is no part of the name, whatever it is called.
_MACRO_IN_TYPE = re.compile(
    rb"\b((?:class|struct|union)\s{1,20})(\b[A-Z][A-Z0-9_]{2,80}\b" + _ARGUMENTS + rb")"
    rb"(?=\s{1,20}[A-Za-z_][\w:]{0,200}" + _TEMPLATE + rb"\s{0,20}(?:\{|:[^:]|final\b))"
)
# `enum : type {` has no name.
_ENUM_TYPE = re.compile(rb"\benum\s{0,20}(:\s{0,20}[\w:]{1,100})(?=\s{0,20}\{)")
# `MACRO void name(`: a word in capitals before a type and a name is a macro.
_MACRO_BEFORE = re.compile(
    rb"\b[A-Z][A-Z0-9_]{3,80}\b" + _ARGUMENTS + rb"(?=\s{1,100}(?:"
    rb"(?:template|class|struct|union|enum|namespace|using|typedef|extern|friend|inline|static|"
    rb"constexpr|virtual|explicit|auto|void|bool|char|int|unsigned|const)\b"
    rb"|" + _WORD + _TEMPLATE + rb"(?:[ \t]{0,20}[*&][ \t*&]{0,20}|\s{1,100})" + _WORD + rb"))"
)
# `SHOP_CONSTEXPR`: a macro whose name has the word of a specifier stands for no type.
_SPECIFIER = re.compile(
    rb"\b(?:[A-Z][A-Z0-9]{0,40}_){1,4}(?:CONSTEXPR|CONSTEVAL|INLINE|API|EXPORT|NORETURN|NODISCARD|NOEXCEPT|"
    rb"DEPRECATED|NOINLINE|FORCEINLINE|EXPLICIT|VIRTUAL|STATIC|EXTERN|UNUSED|HIDDEN|TRY|CATCH)"
    rb"[A-Z0-9_]{0,40}\b" + _ARGUMENTS + rb"(?=\s{1,100}[\w~({\[])"
)
_MACRO_AFTER = re.compile(
    rb"(?:\)|&|\*|\b\w{1,100})[ \t]{1,100}(" + _MACRO + _ARGUMENTS + rb")(?=\s{0,100}"
    rb"(?:[{;,)]|->|:\s{0,20}\w{1,100}[({]))"
)
# Words before a constant in capitals, which is no macro there: `return MAX_SIZE`.
_OPERATORS = re.compile(
    rb"(?:return|case|sizeof|namespace|struct|class|enum|union|goto|new|typename)\s"
)
_MACRO_LINE = re.compile(
    rb"^[ \t]{0,200}" + _MACRO + _ARGUMENTS + rb"[ \t]{0,200};?$", re.MULTILINE
)
_MACRO_CALL = re.compile(_MACRO + rb"\(")
OPENING, CLOSING = b"()"
MAX_ARGUMENTS = 400  # characters that a macro's arguments may have


def without_misread(source: bytes) -> bytes:
    """Blank macros in heads of types, and the types of enums that have no name.

    `class API Name {` reads as a function, `enum : int {` as an error.
    """
    source = blank(source, [match.span(2) for match in _MACRO_IN_TYPE.finditer(source)])
    return blank(source, [match.span(1) for match in _ENUM_TYPE.finditer(source)])


def without_macros(source: bytes) -> bytes:
    """Blank macros around declarations: `SHOP_API void add();` → `void add();`."""
    for expression in (_SPECIFIER, _MACRO_LINE, _MACRO_BEFORE, _MACRO_AFTER):
        found = [
            match.span(match.re.groups)
            for match in expression.finditer(source)
            if not _is_directive(source, match.start()) and not _OPERATORS.match(match[0])
        ]
        source = blank(source, found)
    return blank(source, list(_template_arguments(source)))


def _is_directive(source: bytes, at: int) -> bool:
    """Whether a byte stands in a line of the preprocessor, which begins with `#`."""
    start = max(source.rfind(b"\n", 0, at) + 1, at - MAX_ARGUMENTS)
    return source[start:at].lstrip().startswith(b"#")


def _template_arguments(source: bytes) -> Iterator[Bytes]:
    """Yield the arguments of macros in lists of templates: `<T, ENABLE_IF(x > 1)>` → `x > 1`."""
    for match in _MACRO_CALL.finditer(source):
        depth, at = 1, match.end()
        while depth and at < min(len(source), match.end() + MAX_ARGUMENTS):
            depth += (source[at] == OPENING) - (source[at] == CLOSING)
            at += 1
        if not depth and source[at : at + 1] in b">,":
            yield match.end(), at - 1
