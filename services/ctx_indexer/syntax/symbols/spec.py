"""A language as symbol tables need it: its nodes, their parts, and the syntax of its imports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ctx_indexer.syntax.symbols.table import Expression

DEFAULT = "default"  # the name of an import that takes `export default` of JavaScript
SUBMODULE = "./"  # starts the module of an import that a `mod cart;` of Rust is read as
MAX_ANNOTATION = 400  # characters of a type; a longer one is not read


class ImportedName(NamedTuple):
    """A name that an import binds: `from shop import Cart as C` → C, shop, Cart.

    Of an import of the module itself, `name` is WHOLE_MODULE.
    """

    alias: str
    module: str
    name: str


@dataclass(frozen=True)
class Shapes:
    """The node types of a language's expressions, with their parts.

    A part is a field, the position of a named child, or `:type`, as `nodes.part` takes it.
    """

    # A type → the parts of the owner and of the name: `cart.add`.
    attributes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # A type → the parts of the function and of the arguments: `add(1)`.
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # A type → the parts of the owner, the name and the arguments: `$cart->add(1)`.
    methods: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    # A type → the parts of the class and of the arguments: `new Cart(1)`.
    constructs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    makers: frozenset[str] = frozenset()  # functions that make an instance of a type: `new(Cart)`
    receiving: str = ""  # the operator that takes an element: `<-` of a channel
    contextual: str = ""  # starts a member of the type that its place expects: `.red` in Swift
    # A type → the parts of the container and of the key: `carts[0]`.
    subscripts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()  # their value is one of the children: `a or b`
    # A type → its parts, one of which is the value: `a if c else b` → `a`, `b`.
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # A type → the part of the element: `[f(x) for x in xs]`.
    comprehensions: Mapping[str, str] = field(default_factory=dict)
    nothing: frozenset[str] = frozenset()  # choices without members of the program: `null`
    anything: frozenset[str] = frozenset()  # texts of such nodes that may have members: `any`
    wrappers: Mapping[str, str] = field(
        default_factory=dict
    )  # a type → its value: `(a)`, `await a`
    casts: Mapping[str, str] = field(default_factory=dict)  # a type → the part of the type
    # A type → the parts of the operator and of its operands: `a + b`.
    operations: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    sequences: frozenset[str] = frozenset()  # lists, tuples and patterns like them
    lists: frozenset[str] = frozenset()  # sequences that stand for their only child: `(a)` in Swift
    mappings: frozenset[str] = frozenset()  # dictionaries, objects and patterns like them
    # A type of a mapping's child → the parts of the key and of the value: `a: b`.
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=lambda: {"pair": ("key", "value")})
    # The same of the type of an object: `{ cart: Cart }`.
    typed_pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # A type → the part that is bound: `a` of `a = 1` and of `...a` in a pattern.
    patterns: Mapping[str, str] = field(default_factory=dict)
    literals: Mapping[str, str] = field(default_factory=dict)  # a type → the name of its class
    # A type with the last letter of the text → the name of its class: `1L` → `long`.
    suffixes: Mapping[str, str] = field(default_factory=dict)
    truth: str = ""  # the name of the class of `a < b`
    functions: frozenset[str] = frozenset()  # functions and types that are values: lambdas
    # Bodies of classes without a name, inside the call that constructs one: `new Cart() { … }`.
    bodies: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()  # nodes whose text is a dotted name
    generics: Mapping[str, str] = field(default_factory=dict)  # a type → the type of its arguments
    arrays: Mapping[str, str] = field(default_factory=dict)  # a type → the part of the element
    dimensions: frozenset[str] = frozenset()  # the brackets of arrays: `[][]`
    lookups: frozenset[str] = frozenset()  # the type of a value or member: `typeof a`, `Shop["a"]`
    transparent: frozenset[str] = frozenset()  # generic types that stand for their argument: `Box`
    cast_words: frozenset[str] = frozenset()  # generic words that run nothing: `static_cast`
    passing: frozenset[str] = frozenset()  # functions whose calls keep their arguments: `list(xs)`
    getters: frozenset[str] = frozenset()  # functions that give an attribute by its name: `getattr`
    unions: frozenset[str] = frozenset()  # generic types that are one of their arguments: `Union`
    passes_all: bool = False  # calls of any function keep their arguments, to choose its overload
    creator: str = ""  # the member of a class that constructs: `new` in Ruby
    sigil: str = ""  # the first character of a variable, and of no member: `$` in PHP
    members: str = ""  # the first character of an instance's member: `@` in Ruby


@dataclass(frozen=True)
class SymbolSpec:
    """The query of a language, its shapes, and how its heads, bindings and imports are read."""

    query: str
    shapes: Shapes
    imports: Callable[[str], Sequence[ImportedName]]
    # A type of a parameter → the parts of its name, type and default.
    parameters: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    # A type of an argument → the parts of its name, which it may lack, and of its value.
    keyword_arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    argument_lists: frozenset[str] = frozenset()  # nodes whose children are arguments
    splats: frozenset[str] = frozenset()  # parameters that take the rest: `*args`
    variadic: frozenset[str] = frozenset()  # parameters that are arrays of their type: `n ...int`
    no_parameters: frozenset[str] = frozenset()  # nodes in a list of parameters that are none
    # The word before or in a parameter that takes the rest: `vararg`. A language has one where
    # modifiers and defaults stand beside the parameters in their list.
    rest_modifier: str = ""
    # Parameters, or parts of them, that make members of a class: `constructor(private cart)`.
    promoted: frozenset[str] = frozenset()
    tuples: frozenset[str] = frozenset()  # types of several results: `(Cart, error)`
    annotations: Callable[[str], Expression] | None = None  # reads a type from its text
    untyped: frozenset[str] = frozenset()  # types that stand for the assigned value: `auto`, `var`
    # A declared name is the value and no pointer: `Cart cart;`, unless its declarator is `*cart`.
    holds: bool = False
    # Types that overloads tell from pointers to them, as `char` from `char *`; a pointer to a class
    # is called as the class.
    pointed: Sequence[str] = ()
    overloads: bool = False  # functions of one name are told apart by their parameters
    marks_new: bool = False  # calls of constructors are told from calls of functions
    variables: bool = False  # blocks declare variables, which keep their types there
    name_lists: frozenset[str] = frozenset()  # nodes whose children are declared: `a, b := f()`
    common: frozenset[str] = frozenset()  # variables for which no block becomes a scope: `err`
    # Of two targets of an item or assertion the second is whether it is there: `v, ok := m[k]`.
    comma_ok: bool = False
    loops_last: bool = False  # the last target of a loop takes the element: `for i, v := range xs`
    # A function of the language → the method of its argument that it runs: `str` → `__str__`.
    runs: Mapping[str, str] = field(default_factory=dict)
    loop_runs: str = ""  # the method of a value that a loop runs: `__iter__`
    enter_runs: Sequence[str] = ()  # the methods of a value that `with` runs
    heads_outside: bool = False  # defaults are computed in the scope around the function
    reads: bool = False  # an attribute that is read may run a property
    targets: frozenset[str] = frozenset()  # nodes whose children are assigned: `a.x, b.y = pair`
    exports: bool = True  # other files see its definitions by their names alone, without an import
    # Names that are calls where nothing binds them: their type → the types of nodes around.
    bare_calls: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Values that say nothing of a name: `null`. Languages that list some also bind a name without
    # a value.
    empty: frozenset[str] = frozenset()
    unnamed_class: str = ""  # the name of a class that has none written: `Companion` in Kotlin
    sigil: str = ""  # the first character of a variable: `$` in PHP
