"""Where scripts stand in the markup of Vue, Svelte and Astro."""

import re
from collections.abc import Iterator

_OPENING = re.compile(r"<script\b", re.IGNORECASE)
_CLOSING = re.compile(r"</script\s*+>", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[^\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)


def front_matter(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the script of an Astro component stands: between its first two `---`."""
    if match := _FRONT_MATTER.match(text):
        yield match.span(1)


def scripts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where scripts stand; the text after a tag that nothing closes is looked at once."""
    at = 0
    while opening := _OPENING.search(text, at):
        start = text.find(">", opening.end()) + 1
        closing = _CLOSING.search(text, start) if start else None
        if closing is None:
            return
        yield start, closing.start()
        at = closing.end()
