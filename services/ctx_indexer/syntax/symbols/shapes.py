"""The shapes of a language's expressions: which nodes are which, and their parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shapes:
    """The node types of a language's expressions, with their parts.

    A part is the name of a field, or the position of a named child.
    """

    attributes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # function, arguments
    methods: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)  # with its owner
    constructs: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # class, arguments
    makers: frozenset[str] = frozenset()  # functions that make an instance of a type they take
    receiving: str = ""  # the operator that takes an element, as `<-` of a channel
    subscripts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()  # one of the children
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # one of some parts
    comprehensions: Mapping[str, str] = field(default_factory=dict)  # with the part of an element
    nothing: frozenset[str] = frozenset()  # choices that have no members of the program
    wrappers: Mapping[str, str] = field(default_factory=dict)  # the same value as a part
    casts: Mapping[str, str] = field(default_factory=dict)  # with the part of the type
    # With the parts of the operator and of what it is applied to.
    operations: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    sequences: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()  # sequences that are their only child
    mappings: frozenset[str] = frozenset()
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=lambda: {"pair": ("key", "value")})
    typed_pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of an object's type
    patterns: Mapping[str, str] = field(default_factory=dict)  # targets with a default, or the rest
    literals: Mapping[str, str] = field(default_factory=dict)  # with the name of the type
    suffixes: Mapping[str, str] = field(default_factory=dict)  # the type of a number by its end
    truth: str = ""  # the type of a comparison
    functions: frozenset[str] = frozenset()  # lambdas
    bodies: frozenset[str] = frozenset()  # of classes without a name, in what constructs them
    names: frozenset[str] = frozenset()  # nodes whose text is a dotted name
    generics: Mapping[str, str] = field(default_factory=dict)  # with the type of the arguments
    arrays: Mapping[str, str] = field(default_factory=dict)  # types, with the part of the element
    lookups: frozenset[str] = frozenset()  # types of a value, or of a member of a type
    transparent: frozenset[str] = frozenset()  # generic types that stand for their argument
    cast_words: frozenset[str] = frozenset()  # generic words that run nothing
    passing: frozenset[str] = frozenset()  # functions that pass their arguments on
    getters: frozenset[str] = frozenset()  # functions that give an attribute by its name
    unions: frozenset[str] = frozenset()  # generic types that stand for one of their arguments
    passes_all: bool = False  # any call may, by its overloads
    creator: str = ""  # the member of a class that constructs, as `new` in Ruby
    sigil: str = ""  # what starts the name of a variable, and not that of a member
    members: str = ""  # what starts the name of an instance's member, as `@` in Ruby
