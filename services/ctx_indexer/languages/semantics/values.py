"""The values that an expression may have, as far as the code says."""

from collections.abc import Iterable
from typing import NamedTuple

DEFINITION, INSTANCE, FILE, PACKAGE = "definition", "instance", "file", "package"
BUILTINS = "builtins"
TYPE = "type"  # the type of a class, as an annotation names it: `type[Cart]`
OPEN = "~"  # the name of an instance that may be one of a subclass
PASSING = "passing"  # a member whose call gives its owner: `x.unwrap`
LITERAL_VALUE, PARENT, EXTERNAL, UNRESOLVED = "literal", "super", "external", "unresolved"


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
