"""Finds tests inside source files: `#[cfg(test)] mod tests`, `test "…" {`, `@Test`."""

import re
from collections.abc import Iterator, Sequence

from ctx_indexer.languages.registry import language_named
from ctx_indexer.syntax.definitions import Definition
from ctx_indexer.syntax.lines import Lines


def test_spans(
    definitions: Sequence[Definition], lines: Lines, language: str
) -> list[tuple[int, int]]:
    """Return the first and last row, from 0, of each outermost test of a source text.

    A class that has a test is one of tests.
    """
    mark = language_named(language).tests.inline
    return list(_spans(definitions, lines, re.compile(mark))) if mark else []


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
