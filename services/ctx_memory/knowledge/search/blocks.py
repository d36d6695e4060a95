"""Cut Markdown into blocks: the smallest pieces that a search result points to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctx_memory.knowledge.documents import PLACEHOLDERS

SPLIT_VERSION = 2  # rises when documents are cut in another way; their blocks are then written anew
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+|\s*\|")
_FENCE = re.compile(r"\s*(```|~~~)")
_EMPTY = re.compile(r"[\s|:`~#*=_-]*")


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, an item of a list, a row of a table or a piece of code.

    `line` is the number of its first line, from 1; `headings` are those above it.
    """

    line: int
    text: str
    headings: tuple[str, ...] = ()

    @property
    def context(self) -> str:
        """The text with its headings: an item says little without them."""
        return "\n".join([" > ".join(self.headings), self.text]) if self.headings else self.text


def split_blocks(markdown: str) -> list[Block]:
    """Cut a document into blocks, in its order.

    Lines without words and placeholders of a decision belong to none.
    """
    return [
        block
        for block in _blocks(markdown)
        if not _EMPTY.fullmatch(block.text) and block.text.strip() not in PLACEHOLDERS
    ]


def _blocks(markdown: str) -> Iterator[Block]:
    headings: list[tuple[int, str]] = []
    current: list[str] = []
    start, fence = 1, ""
    for number, line in enumerate(markdown.splitlines(), 1):
        above = tuple(text for _, text in headings)
        heading = None if fence else _HEADING.match(line)
        opened = _FENCE.match(line)
        starts = heading or (not fence and (opened or _ITEM.match(line) or not line.strip()))
        if starts and current:
            yield Block(start, "\n".join(current), above)
            current = []
        if heading:
            depth = len(heading[1])
            headings = [each for each in headings if each[0] < depth]
            yield Block(number, line, tuple(text for _, text in headings))
            headings.append((depth, heading[2].strip()))
            continue
        if opened and (not fence or opened[1] == fence):
            fence = "" if fence else opened[1]
        if not current:
            start = number
        if current or line.strip():
            current.append(line)
    if current:
        yield Block(start, "\n".join(current), tuple(text for _, text in headings))
