"""Scripts inside markup: Vue, Svelte and Astro."""

import re

SCRIPT_HOSTS = frozenset(["vue", "svelte", "astro"])
_SCRIPT = re.compile(r"(<script\b[^>]*>)(.*?)(?=</script\s*>)", re.DOTALL | re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A(---[^\n]*\n)(.*?)(?=^---)", re.DOTALL | re.MULTILINE)
_NOT_NEWLINE = re.compile(r"[^\n]+")
SCRIPT_LANGUAGE = "typescript"  # its grammar parses JavaScript too


def extract_script(text: str, language: str) -> tuple[str, str]:
    """Return the scripts' language, and the text with its markup blanked, line by line."""
    pattern = _FRONT_MATTER if language == "astro" else _SCRIPT
    parts, at = [], 0
    for match in pattern.finditer(text):
        parts += [_NOT_NEWLINE.sub("", text[at : match.start(2)]), match.group(2)]
        at = match.end(2)
    parts.append(_NOT_NEWLINE.sub("", text[at:]))
    return SCRIPT_LANGUAGE, "".join(parts)
