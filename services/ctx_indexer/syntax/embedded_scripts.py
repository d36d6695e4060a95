"""Scripts inside markup: Vue, Svelte and Astro."""

import re
from collections.abc import Iterator

SCRIPT_HOSTS = frozenset(["vue", "svelte", "astro"])
_OPENING = re.compile(r"<script\b", re.IGNORECASE)
_CLOSING = re.compile(r"</script\s*+>", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[^\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)
_NOT_NEWLINE = re.compile(r"[^\n]+")
SCRIPT_LANGUAGE = "typescript"  # its grammar parses JavaScript too


def extract_script(text: str, language: str) -> tuple[str, str]:
    """Return the scripts' language, and the text with its markup blanked, line by line."""
    spans = _front_matter(text) if language == "astro" else _scripts(text)
    parts, at = [], 0
    for start, end in spans:
        parts += [_NOT_NEWLINE.sub("", text[at:start]), text[start:end]]
        at = end
    parts.append(_NOT_NEWLINE.sub("", text[at:]))
    return SCRIPT_LANGUAGE, "".join(parts)


def _front_matter(text: str) -> Iterator[tuple[int, int]]:
    if match := _FRONT_MATTER.match(text):
        yield match.span(1)


def _scripts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where scripts stand; the text after a tag that nothing closes is looked at once."""
    at = 0
    while opening := _OPENING.search(text, at):
        start = text.find(">", opening.end()) + 1
        closing = _CLOSING.search(text, start) if start else None
        if closing is None:
            return
        yield start, closing.start()
        at = closing.end()
