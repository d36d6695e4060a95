"""Letters without their case, alike on both databases.

One letter becomes one letter (Unicode's simple folding): `É` is `é` and the three sigmas are one,
but `ß` is not `ss`. What is not ASCII stays so, which leaves out two relics: the Kelvin sign and
the long s. Thus text in ASCII is compared without our function, and by SQLite's own index.
"""

from functools import lru_cache

RELICS = "\u017f\u212a"  # the long s and the Kelvin sign would become an ASCII s and k


def fold(text: str) -> str:
    """The text without case; as many characters as before."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@lru_cache(maxsize=4096)
def _letter(letter: str) -> str:
    if letter in RELICS:
        return letter
    candidates = (letter.casefold(), letter.lower(), letter)
    return next(each for each in candidates if len(each) == 1)
