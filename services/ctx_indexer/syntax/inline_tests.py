"""Finds tests inside source files: `#[cfg(test)] mod tests`, `test "…" {`, `@Test`."""

import re
from collections.abc import Iterator, Sequence

from ctx_indexer.syntax.definitions import Definition
from ctx_indexer.syntax.lines import Lines

_JVM = re.compile(r"^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b")
# What marks a definition as a test, in the lines from its first attribute to its name.
# `cfg(any(test, …))` and `cfg(not(test))` are compiled elsewhere too.
_MARKS = {
    "rust": re.compile(
        r"#!?\[\s*(?:cfg\s*\(\s*(?:test\s*\)|all\s*\((?:[^()]*,)?\s*test\b)"
        r"|(?:\w+::)*(?:test|bench|rstest|test_case|quickcheck|wasm_bindgen_test)\b)"
    ),
    "zig": re.compile(r'^\s*test\s*(?:"|\{|[A-Za-z_])'),
    "java": _JVM,
    "kotlin": _JVM,
    "csharp": re.compile(r"^\s*\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod)\b"),
    "swift": re.compile(r"^\s*@(?:Test|Suite)\b"),
    "php": re.compile(r"^\s*#\[(?:\w*\\)*Test\b"),
}


def test_spans(
    definitions: Sequence[Definition], lines: Lines, language: str
) -> list[tuple[int, int]]:
    """Return the first and last row, from 0, of each outermost test of a source text.

    A class that has a test is one of tests.
    """
    mark = _MARKS.get(language)
    return list(_spans(definitions, lines, mark)) if mark else []


def _spans(
    definitions: Sequence[Definition], lines: Lines, mark: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    for definition in definitions:
        children = definition.children if definition.kind == "class" else ()
        if any(_is_marked(each, lines, mark) for each in (definition, *children)):
            yield definition.start, definition.end
        else:
            yield from _spans(definition.children, lines, mark)


def _is_marked(definition: Definition, lines: Lines, mark: re.Pattern[str]) -> bool:
    rows = lines.rows[definition.start : definition.head + 1]
    return any(mark.search(row) for row in rows)
