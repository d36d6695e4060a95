"""What resolving knows of a language: its receivers, constructors, and where names come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Names(StrEnum):
    """Where a language finds a name that its file does not bind."""

    FILES = "files"  # nowhere: imports name files
    PACKAGES = "packages"  # in the package or namespace that files declare
    FOLDERS = "folders"  # in the files of the same folder
    MODULES = "modules"  # nowhere: imports are paths in a tree of modules
    PROGRAM = "program"  # in any file


@dataclass(frozen=True)
class Rules:
    """The rules of one language."""

    names: Names = Names.FILES
    instance: frozenset[str] = frozenset()  # names of the instance; else the first parameter
    own_class: frozenset[str] = frozenset()  # names of the class around
    parent: frozenset[str] = frozenset()  # names of what the class inherits
    constructor: str = ""  # the name of constructors; empty: that of their class
    implicit: bool = False  # members are seen in methods without a receiver
    open_classes: bool = False  # members of a class may stand outside of it
    explicit_self: bool = False  # methods name their receiver in their parameters
    passing: frozenset[str] = frozenset()  # members of anything that give the same instance
    overloads: bool = False  # functions of one name differ in their parameters
    one_overload: bool = False  # of several overloads that fit a call, one runs
    twins: bool = False  # a name may have several definitions, of which a file sees one or more
    declares: bool = False  # declared types choose what a call runs; methods have own names
    callable_members: frozenset[str] = frozenset()  # members of a function that call it
    runs_names: bool = False  # naming a method calls it
    sigil: str = ""  # what starts the names of variables
    globals_last: bool = False  # names of no package are seen everywhere
    static: bool = False  # variables keep the types that they are declared with
    objects: bool = False  # functions are members of objects that are written out
    open_names: bool = False  # mixins or macros may bring a name that nothing shows


MAX_COMPARED = 100  # overloads of one name; of more, a call may run any
THIS = frozenset(["this"])
SUPER = frozenset(["super"])
_JAVASCRIPT = Rules(
    Names.FILES,
    THIS,
    parent=SUPER,
    constructor="constructor",
    callable_members=frozenset(["call", "apply", "bind"]),
    open_classes=True,
    objects=True,
)
PYTHON = Rules(Names.FILES, constructor="__init__", explicit_self=True)

RULES: Mapping[str, Rules] = {
    "python": PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": Rules(Names.FOLDERS, constructor="-", open_classes=True, static=True),
    "java": Rules(
        Names.PACKAGES,
        THIS,
        parent=SUPER,
        implicit=True,
        overloads=True,
        one_overload=True,
        declares=True,
    ),
    "kotlin": Rules(
        Names.PACKAGES,
        THIS,
        parent=SUPER,
        constructor="constructor",
        implicit=True,
        open_classes=True,
        callable_members=frozenset(["invoke"]),
        overloads=True,
        one_overload=True,
    ),
    "csharp": Rules(
        Names.PACKAGES,
        THIS,
        parent=frozenset(["base"]),
        implicit=True,
        open_classes=True,
        callable_members=frozenset(["Invoke"]),
        overloads=True,
        one_overload=True,
    ),
    "rust": Rules(
        Names.MODULES,
        frozenset(["self"]),
        own_class=frozenset(["Self"]),
        passing=frozenset(
            "unwrap expect clone as_ref as_mut borrow borrow_mut lock unwrap_or_default".split()
        ),
        constructor="-",
        open_classes=True,
    ),
    "c": Rules(Names.PROGRAM, constructor="-", one_overload=True, twins=True),
    "cpp": Rules(
        Names.PACKAGES,
        THIS,
        implicit=True,
        open_classes=True,
        globals_last=True,
        overloads=True,
        one_overload=True,
        twins=True,
        open_names=True,
    ),
    "ruby": Rules(
        Names.PROGRAM,
        frozenset(["self"]),
        parent=SUPER,
        constructor="initialize",
        runs_names=True,
        implicit=True,
        open_classes=True,
        callable_members=frozenset(["call"]),
        open_names=True,
    ),
    "php": Rules(
        Names.PACKAGES,
        frozenset(["$this"]),
        own_class=frozenset(["self", "static"]),
        parent=frozenset(["parent"]),
        constructor="__construct",
        sigil="$",
        globals_last=True,
    ),
}


def rules_of(language: str) -> Rules:
    """Return the rules of a language."""
    return RULES.get(language, PYTHON)
