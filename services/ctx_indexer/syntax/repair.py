"""Source texts that grammars stumble over: lines are blanked, byte for byte.

Every byte keeps its place, so that lines and names of the repaired text are those of the original.
"""

from collections.abc import Callable, Sequence

from tree_sitter import Tree

from ctx_indexer.languages.protocol import Language
from ctx_indexer.syntax.blanks import blank

Repair = Callable[[bytes, Tree], bytes]


def without_long_rows(source: bytes, max_size: int) -> bytes | None:
    """Blank the lines of more than `max_size` bytes; None where they are most of the text."""
    spans, at = [], 0
    for row in source.split(b"\n"):
        if len(row) > max_size:
            spans.append((at, at + len(row)))
        at += len(row) + 1
    if 2 * sum(end - start for start, end in spans) > len(source):
        return None
    return blank(source, spans)


def repairs(language: Language) -> Sequence[Repair]:
    """Return the repairs of a text that parses with errors, the gentlest first."""
    of_text = [_of_text(change) for change in language.repairs]
    return [*of_text, *[_without_error_line] * language.dropped_lines]


def _of_text(change: Callable[[bytes], bytes]) -> Repair:
    return lambda source, _: change(source)


def _without_error_line(source: bytes, tree: Tree) -> bytes:
    """Blank the line in which the first error of a tree begins, the innermost of nested ones."""
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
