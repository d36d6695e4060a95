"""A language as symbol tables need it: its nodes, their parts, and the syntax of its imports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ctx_indexer.syntax.symbols.table import Expression

DEFAULT = "default"  # the name that a module of JavaScript exports without one
SUBMODULE = "./"  # starts the module of a Rust `mod` item
MAX_ANNOTATION = 400  # characters of a type that is read


class ImportedName(NamedTuple):
    """A name bound by an import: `name` of `module`, or the module itself."""

    alias: str
    module: str
    name: str


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
    contextual: str = ""  # starts a member of the type that its place expects: `.red` in Swift
    subscripts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()  # one of the children
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # one of some parts
    comprehensions: Mapping[str, str] = field(default_factory=dict)  # with the part of an element
    nothing: frozenset[str] = frozenset()  # choices that have no members of the program
    anything: frozenset[str] = frozenset()  # plain types that may be whatever there is
    wrappers: Mapping[str, str] = field(default_factory=dict)  # the same value as a part
    casts: Mapping[str, str] = field(default_factory=dict)  # with the part of the type
    # With the parts of the operator and of its operands.
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
    bodies: frozenset[str] = (
        frozenset()
    )  # of classes without a name, in the call that constructs them
    names: frozenset[str] = frozenset()  # nodes whose text is a dotted name
    generics: Mapping[str, str] = field(default_factory=dict)  # with the type of the arguments
    arrays: Mapping[str, str] = field(default_factory=dict)  # types, with the part of the element
    dimensions: frozenset[str] = frozenset()  # of arrays, as `[][]`
    lookups: frozenset[str] = frozenset()  # types of a value, or of a member of a type
    transparent: frozenset[str] = frozenset()  # generic types that stand for their argument
    cast_words: frozenset[str] = frozenset()  # generic words that run nothing
    passing: frozenset[str] = frozenset()  # functions that pass their arguments on
    getters: frozenset[str] = frozenset()  # functions that give an attribute by its name
    unions: frozenset[str] = frozenset()  # generic types that stand for one of their arguments
    passes_all: bool = False  # any call may, by its overloads
    creator: str = ""  # the member of a class that constructs, as `new` in Ruby
    sigil: str = ""  # the first character of a variable, and of no member: `$` in PHP
    members: str = ""  # the first character of an instance's member: `@` in Ruby


@dataclass(frozen=True)
class SymbolSpec:
    """The query, node types and import syntax of a language."""

    query: str
    shapes: Shapes
    imports: Callable[[str], Sequence[ImportedName]]
    # A parameter's node type, with the parts of its name, type and default.
    parameters: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    # Arguments with the parts of their name, which one may lack, and of their value.
    keyword_arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    argument_lists: frozenset[str] = frozenset()  # nodes whose children are arguments
    splats: frozenset[str] = frozenset()  # parameters that take the rest, as `*args`
    variadic: frozenset[str] = frozenset()  # parameters that are arrays of their type
    no_parameters: frozenset[str] = frozenset()  # nodes in a list of parameters that are none
    # The word that marks a parameter which takes the rest, before it or in it; set where modifiers
    # and defaults stand beside parameters.
    rest_modifier: str = ""
    promoted: frozenset[str] = frozenset()  # parameters, or parts of them, that make members
    tuples: frozenset[str] = frozenset()  # types of several results
    annotations: Callable[[str], Expression] | None = None  # reads a type from its text
    untyped: frozenset[str] = frozenset()  # types that stand for the assigned value: `auto`, `var`
    holds: bool = False  # a declared name holds its value, unless its declarator says otherwise
    # Types that overloads tell from pointers to them; a pointer to a class is called as the class.
    pointed: Sequence[str] = ()
    overloads: bool = False  # functions of one name are told apart by their parameters
    marks_new: bool = False  # calls of constructors are told from those of functions
    variables: bool = False  # variables are declared in blocks, and keep the types they have there
    name_lists: frozenset[str] = frozenset()  # nodes whose children are declared
    common: frozenset[str] = frozenset()  # variables of most blocks, for which no block is a scope
    comma_ok: bool = False  # two targets of an item or assertion: the value, and whether it is
    loops_last: bool = False  # the last target of a loop takes the element
    # Functions of the language that run a method of their argument.
    runs: Mapping[str, str] = field(default_factory=dict)
    loop_runs: str = ""  # the method of a value that a loop runs
    enter_runs: Sequence[str] = ()  # the methods of a value that `with` runs
    heads_outside: bool = False  # defaults are computed in the scope around the function
    reads: bool = False  # attributes that are read may run a property
    targets: frozenset[str] = frozenset()  # nodes whose parts are assigned, each one
    exports: bool = True  # other files see its definitions by their names alone, without an import
    # Names that call where nothing binds them: their node type, with those of the nodes around.
    bare_calls: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Values that say nothing of a name; where they are named, one without a value is bound, too.
    empty: frozenset[str] = frozenset()
    unnamed_class: str = ""  # the name of a class that has none written
    sigil: str = ""  # the first character of a variable: `$` in PHP
