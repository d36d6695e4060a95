"""Cut a text to a length, at a word boundary."""


def truncate(text: str, length: int) -> str:
    """Return at most `length` characters; a word that does not fit is left out, but the first."""
    if len(text) <= length:
        return text
    kept = text[: length + 1]
    cut = next((n for n in range(length, 0, -1) if kept[n].isspace()), None)
    shorter = kept[:cut].rstrip() if cut else ""
    return shorter or text[:length]
