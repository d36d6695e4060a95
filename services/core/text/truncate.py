"""Cut a text to a length, at a word boundary."""


def truncated(text: str, length: int) -> str:
    """At most so many characters; a word that does not fit is left out, unless it is the first."""
    if len(text) <= length:
        return text
    kept = text[: length + 1]
    cut = next((n for n in range(length, 0, -1) if kept[n].isspace()), None)
    shorter = kept[:cut].rstrip() if cut else ""
    return shorter or text[:length]
