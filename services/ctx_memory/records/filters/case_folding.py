"""Case folding that is the same on both databases.

One letter becomes one letter (Unicode's simple folding): `É` is `é` and the three sigmas are one,
but `ß` is not `ss`. No letter outside ASCII becomes an ASCII letter, so the Kelvin sign and the
long s are not folded. ASCII text is therefore compared without our function, by SQLite's own index.
"""

from functools import lru_cache

NOT_FOLDED = "\u017f\u212a"  # long s, Kelvin sign: they would become the ASCII letters s and k


def fold(text: str) -> str:
    """Fold the case of a text; its length stays."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    if letter in NOT_FOLDED:
        return letter
    candidates = (letter.casefold(), letter.lower(), letter)
    return next(each for each in candidates if len(each) == 1)
