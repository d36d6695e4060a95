"""The constants that shown code uses: the lines of the same file that define them."""

import re
from collections.abc import Sequence

from ctx_indexer.search.snippet import CUT, Rows

MAX_CONSTANTS = 4  # lines: the constants that are used first
MAX_CONSTANT_LINE = 120  # characters
MAX_SCANNED = 20_000  # lines of a file; longer ones are data or generated
_NAME = r"_{0,2}[A-Z][A-Z0-9_]{2,60}"
_USED = re.compile(rf"(?<![\w.\"'#]){_NAME}\b(?![\"'])")
# A constant of a class as Java, C# and C++ write it; or not indented, with its value or type.
_DEFINED = re.compile(
    r"(?:#[ \t]{0,8}define[ \t]{1,8}"
    r"|[ \t]{0,16}(?:[a-z]{1,12}[ \t]{1,4}){0,4}(?:static|const|final|constexpr|val)[ \t]{1,4}"
    r"(?:[\w<>\[\],:*]{1,60}[ \t]{1,4}){0,4}?)"
    rf"({_NAME})\b(?![ \t]{{0,4}}(?:\(|==|\.|\[))"
    rf"|(?:[a-z]{{1,12}}[ \t]{{1,4}}){{0,3}}({_NAME})[ \t]{{0,4}}(?::|=(?!=))"
)
_OPENS = tuple("([{,\\|")


def constant_lines(rows: Rows, shown: str, start_line: int, end_line: int) -> list[str]:
    """Return numbered lines outside of a definition that define constants of its shown lines."""
    used = dict.fromkeys(_USED.findall(shown))
    if not used or len(rows.rows) > MAX_SCANNED:
        return []
    found: dict[str, int] = {}
    for number, row in enumerate(rows.rows, rows.first_line):
        if start_line <= number <= end_line or not (match := _DEFINED.match(row)):
            continue
        name = match[1] or match[2]
        if name in used:
            found.setdefault(name, number)
    numbers = [found[name] for name in used if name in found][:MAX_CONSTANTS]
    return [_numbered(rows, number) for number in sorted(set(numbers))]


def fitting(lines: Sequence[str], max_chars: int) -> list[str]:
    """Return the first lines that take no more than so many characters."""
    kept: list[str] = []
    for line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0:
            break
        kept.append(line)
    return kept


def _numbered(rows: Rows, number: int) -> str:
    line = rows.line(number).strip()
    cut = len(line) > MAX_CONSTANT_LINE or line.endswith(_OPENS)
    return f"{number}\t{line[:MAX_CONSTANT_LINE]}{f' {CUT}' if cut else ''}"
