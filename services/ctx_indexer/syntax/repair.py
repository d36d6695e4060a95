"""Source texts that grammars stumble over: what they do not know is blanked, byte for byte.

Every byte keeps its place, so that lines and names of the repaired text are those of the original.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from tree_sitter import Node, Tree

# A macro of C and C++ by its name: capitals and an underscore, or one that ends in API or EXPORT.
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
# `MACRO void name(`: a macro before two words, the type and the name, is none of them.
_MACRO_BEFORE = re.compile(
    rb"\b[A-Z][A-Z0-9_]{3,80}\b" + _ARGUMENTS + rb"(?=\s{1,100}(?:"
    rb"(?:template|class|struct|union|enum|namespace|using|typedef|extern|friend|inline|static|"
    rb"constexpr|virtual|explicit|auto|void|bool|char|int|unsigned|const)\b"
    rb"|" + _WORD + _TEMPLATE + rb"(?:[ \t]{0,20}[*&][ \t*&]{0,20}|\s{1,100})" + _WORD + rb"))"
)
# Macros that are specifiers by their names: no type is called so.
_SPECIFIER = re.compile(
    rb"\b(?:[A-Z][A-Z0-9]{0,40}_){1,4}(?:CONSTEXPR|CONSTEVAL|INLINE|API|EXPORT|NORETURN|NODISCARD|NOEXCEPT|"
    rb"DEPRECATED|NOINLINE|FORCEINLINE|EXPLICIT|VIRTUAL|STATIC|EXTERN|UNUSED|HIDDEN|TRY|CATCH)"
    rb"[A-Z0-9_]{0,40}\b" + _ARGUMENTS + rb"(?=\s{1,100}[\w~({\[])"
)
_MACRO_AFTER = re.compile(
    rb"(?:\)|&|\*|\b\w{1,100})[ \t]{1,100}(" + _MACRO + _ARGUMENTS + rb")(?=\s{0,100}"
    rb"(?:[{;,)]|->|:\s{0,20}\w{1,100}[({]))"
)
# In front of a constant that is no macro.
_OPERATORS = re.compile(
    rb"(?:return|case|sizeof|namespace|struct|class|enum|union|goto|new|typename)\s"
)
_MACRO_LINE = re.compile(
    rb"^[ \t]{0,200}" + _MACRO + _ARGUMENTS + rb"[ \t]{0,200};?$", re.MULTILINE
)
_MACRO_CALL = re.compile(_MACRO + rb"\(")
_DIRECTIVE = re.compile(
    rb"^[ \t]{0,200}#[ \t]{0,20}(if|ifdef|ifndef|elif|else|endif)\b(?:[^\\\n]|\\[\s\S])*+",
    re.MULTILINE,
)
# Comments and texts, whose brackets need not match.
_NO_CODE = re.compile(
    rb"/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\n]*+|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
)
_CSHARP_MODIFIER = re.compile(rb"\bref(?=\s{1,20}(?:partial\s{1,20})?struct\b)")
_NOT_NEWLINE = re.compile(rb"[^\n]")
_RUST_ITEM = re.compile(rb"\b(?:fn|struct|enum|impl|trait|mod|type|const|static)\s")
OPENING, CLOSING = b"()"
MAX_ARGUMENTS = 400  # characters of a macro's arguments
MAX_DROPPED_LINES = 12  # of a script whose lines the grammar does not understand


def blank(source: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """Replace spans, in the order of the text, with spaces; newlines stay."""
    if not spans:
        return source
    parts, at = [], 0
    for start, end in spans:
        parts += [source[at:start], _NOT_NEWLINE.sub(b" ", source[start:end])]
        at = end
    return b"".join([*parts, source[at:]])


def without_long_rows(source: bytes, max_size: int) -> bytes | None:
    """Blank the lines that are longer; None where they are most of the text."""
    spans, at = [], 0
    for row in source.split(b"\n"):
        if len(row) > max_size:
            spans.append((at, at + len(row)))
        at += len(row) + 1
    if 2 * sum(end - start for start, end in spans) > len(source):
        return None
    return blank(source, spans)


def prepared(source: bytes, language: str) -> bytes:
    """Blank what reads as something else without being an error."""
    if language in _C_FAMILY:
        source = blank(source, [match.span(2) for match in _MACRO_IN_TYPE.finditer(source)])
        return blank(source, [match.span(1) for match in _ENUM_TYPE.finditer(source)])
    if language == "csharp":
        return blank(source, [match.span() for match in _CSHARP_MODIFIER.finditer(source)])
    return source


def repairs(language: str) -> Sequence["Repair"]:
    """Return what may mend a text that parses with errors, the gentlest first."""
    return _REPAIRS.get(language, ())


# --- macros --------------------------------------------------------------------------------


def _without_macros(source: bytes) -> bytes:
    for expression in (_SPECIFIER, _MACRO_LINE, _MACRO_BEFORE, _MACRO_AFTER):
        found = [
            match.span(match.re.groups)
            for match in expression.finditer(source)
            if not _is_directive(source, match.start()) and not _OPERATORS.match(match[0])
        ]
        source = blank(source, found)
    return blank(source, list(_template_arguments(source)))


def _is_directive(source: bytes, at: int) -> bool:
    """Whether a line is one of the preprocessor, as far as its first characters tell."""
    start = max(source.rfind(b"\n", 0, at) + 1, at - MAX_ARGUMENTS)
    return source[start:at].lstrip().startswith(b"#")


def _template_arguments(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield what stands between the brackets of macros that are parameters of templates."""
    for match in _MACRO_CALL.finditer(source):
        depth, at = 1, match.end()
        while depth and at < min(len(source), match.end() + MAX_ARGUMENTS):
            depth += (source[at] == OPENING) - (source[at] == CLOSING)
            at += 1
        if not depth and source[at : at + 1] in b">,":
            yield match.end(), at - 1


# --- conditional compilation ---------------------------------------------------------------


def _without_directives(source: bytes) -> bytes:
    """Blank the lines of `#if` and its like; of branches that are no whole statements keep one."""
    spans: list[tuple[int, int]] = []
    open_groups: list[list[tuple[int, int]]] = []  # the directive lines of each group
    for match in _DIRECTIVE.finditer(source):
        if match.group(1).startswith(b"if"):
            open_groups.append([match.span()])
        elif open_groups:
            open_groups[-1].append(match.span())
            if match.group(1) == b"endif":
                spans += _dropped(source, open_groups.pop())
    return blank(source, _merged(spans))


def _dropped(source: bytes, lines: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    yield from lines
    branches = [(before[1], after[0]) for before, after in pairwise(lines)]
    if not all(_is_whole(source[start:end]) for start, end in branches):
        yield from branches[1:]


def _is_whole(part: bytes) -> bool:
    """Whether a branch is nothing but whole statements, as far as braces and its end tell."""
    part = _NO_CODE.sub(b"", part)
    last = next(filter(None, (row.strip() for row in reversed(part.splitlines()))), b";")
    balanced = part.count(b"{") == part.count(b"}") and part.count(b"(") == part.count(b")")
    return balanced and (last[-1:] in b";}" or last.startswith(b"#"))


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


# --- trees ---------------------------------------------------------------------------------


def _without_error_line(source: bytes, tree: Tree) -> bytes:
    """Blank the first line that the innermost error of a tree begins at."""
    node = tree.root_node
    found = None
    while inner := next((child for child in node.children if child.has_error), None):
        found = inner if inner.is_error or inner.is_missing else found
        node = inner
    if found is None:
        return source
    start = source.rfind(b"\n", 0, found.start_byte) + 1
    end = source.find(b"\n", found.start_byte)
    return blank(source, [(start, end if end >= 0 else len(source))])


def unwrapped(source: bytes, tree: Tree, is_sound: Callable[[bytes], bool]) -> bytes:
    """Blank the names and braces of Rust's macro calls around sound items: `cfg_net! { fn … }`."""
    spans = []
    for node in _item_macros(tree):
        body = node.children[-1]
        start, end = body.start_byte + 1, body.end_byte - 1
        if _RUST_ITEM.search(source, start, end) and is_sound(source[start:end]):
            spans += [(node.start_byte, start), (end, end + 1)]
    return blank(source, _merged(spans))


def _item_macros(tree: Tree) -> Iterator[Node]:
    """Yield macro calls with braces that stand where items do."""
    pending = [tree.root_node]
    while pending:
        for node in pending.pop().children:
            if node.type == "mod_item":
                pending += [child for child in node.children if child.type == "declaration_list"]
            call = node.children[0] if node.type == "expression_statement" else node
            if call.type != "macro_invocation":
                continue
            body = call.children[-1]
            if body.type == "token_tree" and body.children[0].type == "{":
                yield call


Repair = Callable[[bytes, Tree], bytes]
_C_FAMILY = frozenset(["c", "cpp", "objc", "cuda"])
_C_REPAIRS: Sequence[Repair] = (
    lambda source, _: _without_macros(source),
    lambda source, _: _without_directives(source),
)
_REPAIRS: Mapping[str, Sequence[Repair]] = {
    **dict.fromkeys(_C_FAMILY, _C_REPAIRS),
    "csharp": [lambda source, _: _without_directives(source)],
    "bash": [_without_error_line] * MAX_DROPPED_LINES,
}
