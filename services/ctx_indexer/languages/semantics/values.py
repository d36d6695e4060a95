"""The values that an expression may have, as far as the code says."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

DEFINITION, INSTANCE, FILE, PACKAGE = "definition", "instance", "file", "package"
BUILTINS = "builtins"
TYPE = "type"  # the type of a class, as an annotation names it: `type[Cart]`
OPEN = "~"  # the name of an instance that may be one of a subclass
PASSING = "passing"  # a member whose call gives its owner: `x.unwrap`
LITERAL_VALUE, PARENT, EXTERNAL, UNRESOLVED = "literal", "super", "external", "unresolved"
HASHED_TEXTS = 50_000  # texts of values whose hashes are kept: names and paths, 5 MB


class Value(NamedTuple):
    """A definition, an instance of a class, a file, or something outside of the repository.

    `path` and `scope` name the definition, or the class of an instance; the `name` of an external
    value is dotted: `builtins.print`.
    """

    kind: str
    path: str = ""
    scope: int = 0
    name: str = ""
    expression: str = ""  # the JSON of a literal's expression

    def __hash__(self) -> int:
        """Return the same number in every process, so that sets have one order in all of them.

        Python's own hash of a text differs from process to process, and so would the first of
        several values that an answer is cut to.
        """
        kind, path, scope, name, expression = self
        texts = _number(kind), _number(path), _number(name), _number(expression)
        return hash((*texts, scope))


@lru_cache(HASHED_TEXTS)
def _number(text: str) -> int:
    """Return a number for a text that no file can aim at: `"cart"` → 1263…."""
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest)


Values = frozenset[Value]
NOTHING: Values = frozenset()
UNKNOWN_VALUE = Value(UNRESOLVED)
UNRESOLVED_VALUES: Values = frozenset([UNKNOWN_VALUE])
# An unknown value that code assigns to a variable: the declared type of the variable stays known.
CHANGED_VALUE = Value(UNRESOLVED, name="changed")
# A member that a type is known not to have: the code compiles, so the receiver is of another type.
LACKING_VALUE = Value(UNRESOLVED, name="lacking")


def external(name: str) -> Values:
    """Return the value of a name that the repository does not define: `builtins.print`."""
    return frozenset([Value(EXTERNAL, name=name)])


def member_of_unknown(value: Value) -> Values:
    """Return a member of an unknown value; of a changed one it is lacking, as its type is known."""
    return frozenset([LACKING_VALUE]) if value == CHANGED_VALUE else UNRESOLVED_VALUES


def union(many: Iterable[Values]) -> Values:
    """Return all values of several sets."""
    result: Values = frozenset().union(*many)
    return result


class ScopeRef(NamedTuple):
    """A scope of a file, in which an expression is read."""

    path: str
    scope: int
