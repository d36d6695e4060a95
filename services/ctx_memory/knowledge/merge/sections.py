"""Markdown as sections: the text before the first `## ` heading, then one section a heading."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"##[ \t]+\S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True)
class Section:
    """A `## ` heading and the text up to the next one; the preamble has no title."""

    title: str
    text: str

    @property
    def key(self) -> str:
        """The title as merges compare it: without case."""
        return self.title.lower()

    @property
    def content(self) -> str:
        """The text as merges compare it: without blanks at its end."""
        return self.text.rstrip()


def split_sections(markdown: str) -> list[Section]:
    """Cut at `## ` headings outside code fences; the texts add up to the input.

    The first section is the preamble, which may be empty.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    for line, is_code in _lines(markdown):
        if not is_code and _HEADING.match(line):
            found.append((line.strip(), []))
        found[-1][1].append(line)
    return [Section(title, "".join(lines)) for title, lines in found]


def join_sections(sections: Iterable[Section]) -> str:
    """Write sections one after another, with a blank line before a heading that lacks one."""
    text = ""
    for section in sections:
        if text and section.title and not text.endswith(("\n\n", "\r\n\r\n")):
            text += "\n" if text.endswith("\n") else "\n\n"
        text += section.text
    return text


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """Each line with its end, and whether it belongs to a fenced code block."""
    fence = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", markdown):
        if fence:
            yield line, True
            if _closes(line, fence):
                fence = ""
        else:
            fence = _opened(line)
            yield line, bool(fence)


def _opened(line: str) -> str:
    """The fence that a line opens; empty if it opens none."""
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):
        return ""
    return found[1]


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return (
        found is not None
        and found[1][0] == fence[0]
        and len(found[1]) >= len(fence)
        and not found[2].strip()
    )
