"""What the extraction of symbols knows of a language: node types, and the syntax of imports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ctx_indexer.syntax.symbols.imports import ImportedName
from ctx_indexer.syntax.symbols.shapes import Shapes
from ctx_indexer.syntax.symbols.table import Expression


@dataclass(frozen=True)
class SymbolSpec:
    """The query, node types and import syntax of a language."""

    query: str
    shapes: Shapes
    imports: Callable[[str], Sequence[ImportedName]]
    # A parameter's node type, with the parts of its name, type and default.
    parameters: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    keyword_arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    argument_lists: frozenset[str] = frozenset()  # nodes whose children are arguments
    splats: frozenset[str] = frozenset()  # parameters that take the rest, as `*args`
    variadic: frozenset[str] = frozenset()  # parameters that are arrays of their type
    no_parameters: frozenset[str] = frozenset()  # nodes in a list of parameters that are none
    # The word before a parameter that takes the rest, in a list where defaults follow parameters.
    rest_modifier: str = ""
    promoted: frozenset[str] = frozenset()  # parameters, or parts of them, that make members
    tuples: frozenset[str] = frozenset()  # types of several results
    annotations: Callable[[str], Expression] | None = None  # reads a type from its text
    untyped: frozenset[str] = frozenset()  # types that stand for what is assigned
    holds: bool = False  # a declared name holds its value, unless its declarator says otherwise
    overloads: bool = False  # functions of one name are told apart by their parameters
    marks_new: bool = False  # calls of constructors are told from those of functions
    variables: bool = False  # variables are declared in blocks, and keep the types they have there
    comma_ok: bool = False  # two targets of an item or assertion: the value, and whether it is
    loops_last: bool = False  # the last target of a loop takes the element
    # Functions of the language that run a method of their argument.
    runs: Mapping[str, str] = field(default_factory=dict)
    heads_outside: bool = False  # defaults are computed in the scope around the function
    reads: bool = False  # attributes that are read may run a property
    targets: frozenset[str] = frozenset()  # nodes whose parts are assigned, each one
    exports: bool = True  # what the file defines is found by its name alone
    # Names that call where nothing binds them: their node type, with those of the nodes around.
    bare_calls: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Values that say nothing of a name; where they are named, one without a value is bound, too.
    empty: frozenset[str] = frozenset()
    unnamed_class: str = ""  # the name of a class that has none written
    sigil: str = ""  # what starts the name of a variable
