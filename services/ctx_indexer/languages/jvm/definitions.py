"""Methods of Java: a method and a variable of one class may have the same name."""

from collections import defaultdict
from collections.abc import Sequence

from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR, Bindings, Definitions
from ctx_indexer.syntax.symbols.table import ASSIGNED, DECLARED, FUNCTION, LAMBDA, Binding

JAVA = "java"


def methods_of(file: Definitions) -> dict[tuple[int, str], list[int]]:
    """Return the methods and constructors of a file of Java by class and name; of Kotlin none."""
    return file.indexed(_methods)


def _methods(file: Definitions) -> dict[tuple[int, str], list[int]]:
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, scope in enumerate(file.table.scopes if file.table.language == JAVA else ()):
        is_constructor = file.is_constructor(number)
        if scope.kind == FUNCTION and (scope.returns or is_constructor):
            found[scope.parent, CONSTRUCTOR if is_constructor else scope.name].append(number)
    return found


def members_of(file: Definitions, number: int) -> Sequence[int]:
    """Return the numbers of the methods and constructors of a class."""
    return [n for (outer, _), each in methods_of(file).items() if outer == number for n in each]


def without_methods(file: Definitions, found: Bindings) -> None:
    """Leave out methods where a variable has their name: `int size; int size() {…}`."""
    for key in methods_of(file):
        kept = [each for each in found[key] if not _is_method(file, each)]
        found[key] = kept or found[key]


def _is_method(file: Definitions, binding: Binding) -> bool:
    value = binding.value
    is_function = isinstance(value, list) and value[0] == LAMBDA
    return is_function and bool(file.scope(int(value[1])).returns)


def is_type_variable(file: Definitions, number: int, name: str) -> bool:
    """Whether a scope has a parameter of this name that is a type: `T` of `class Box<T>`."""
    return any(
        each.how == ASSIGNED
        and (isinstance(each.value, str) or each.value[0] not in (LAMBDA, DECLARED))
        for each in file.bindings.get((number, name), ())
    )
