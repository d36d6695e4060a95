"""Files that hold a program inside markup: Vue, Svelte, Astro and HTML."""

import re

SCRIPTED = frozenset(["vue", "svelte", "astro"])
_SCRIPT = re.compile(r"(<script\b[^>]*>)(.*?)(?=</script\s*>)", re.DOTALL | re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A(---[^\n]*\n)(.*?)(?=^---)", re.DOTALL | re.MULTILINE)
_NOT_NEWLINE = re.compile(r"[^\n]+")
SCRIPT_LANGUAGE = "typescript"  # its grammar reads JavaScript too


def script_of(text: str, language: str) -> tuple[str, str]:
    """The language of the scripts and the text with all else blanked: lines stay where they are."""
    pattern = _FRONT_MATTER if language == "astro" else _SCRIPT
    parts, at = [], 0
    for match in pattern.finditer(text):
        parts += [_NOT_NEWLINE.sub("", text[at : match.start(2)]), match.group(2)]
        at = match.end(2)
    parts.append(_NOT_NEWLINE.sub("", text[at:]))
    return SCRIPT_LANGUAGE, "".join(parts)
