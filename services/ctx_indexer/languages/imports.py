"""Parts of readers of imports that several families use."""

import re

from ctx_indexer.syntax.symbols.spec import ImportedName

QUOTED = re.compile(r"""["'`]([^"'`]+)["'`]""")
MAX_NAMES = 200  # names that are read of one statement
_COMMENTS = (("/*", "*/"), ("//", "\n"))


def without_comments(text: str) -> str:
    """Leave comments out: `a/* b */, c` → `a , c`; a comment without an end takes all after it."""
    for opening, closing in _COMMENTS:
        kept, _, rest = text.partition(opening)
        parts = [kept]
        while rest:
            rest = rest.partition(closing)[2]
            kept, _, rest = rest.partition(opening)
            parts.append(kept)
        text = " ".join(parts)
    return text


def dotted_name(path: str, alias: str) -> ImportedName:
    """Return the import of the last part of a path: `shop.Cart` → `Cart` of the module `shop`."""
    module, _, name = path.strip(".").rpartition(".")
    return ImportedName(alias or name, module, name)
