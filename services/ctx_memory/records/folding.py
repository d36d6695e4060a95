"""Folds case and accents, the same on both databases.

Case: one letter becomes one letter (Unicode's simple folding): `É` → `é`, the three sigmas become
one, but `ß` stays. No letter outside ASCII becomes an ASCII letter, so the Kelvin sign and the long
s stay too: SQLite's own index compares ASCII text, without our function.
Accents: as SQLite's full-text index folds them: `é` → `e`, but `й` and `ø` stay.
"""

import re
import unicodedata
from functools import lru_cache

NOT_FOLDED = "\u017f\u212a"  # long s, Kelvin sign: they would become the ASCII letters s and k
# Combining marks on a Latin letter: on letters of other scripts they make other letters.
_MARKED = re.compile("([A-Za-z])[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Fold the case of a text; its length stays."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    if letter in NOT_FOLDED:
        return letter
    candidates = (letter.casefold(), letter.lower(), letter)
    return next(each for each in candidates if len(each) == 1)


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
