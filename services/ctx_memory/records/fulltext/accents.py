"""Folds accents as SQLite's full-text index does: é is e, but й is not и, nor is ø o."""

import re
import unicodedata

# Combining marks on a Latin letter: on letters of other scripts they make other letters.
_MARKED = re.compile("([A-Za-z])[\u0300-\u036f]+")


def fold_accents(text: str) -> str:
    """Return the text with the accents of Latin letters removed."""
    if text.isascii():
        return text
    bare = _MARKED.sub(r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def folded_sql(expression: str) -> str:
    """Return the same as SQL of PostgreSQL, which needs a database in UTF-8."""
    marked = f"normalize({expression}, NFD), '([A-Za-z])[\\u0300-\\u036f]+', '\\1', 'g'"
    return f"normalize(regexp_replace({marked}), NFC)"
