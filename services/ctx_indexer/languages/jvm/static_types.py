"""Types of arguments and parameters, and whether one fits the other."""

import json
from typing import NamedTuple

from ctx_indexer.languages.jvm.definitions import is_type_variable, members_of
from ctx_indexer.languages.jvm.library import (
    BOXES,
    FINAL,
    FUNCTIONAL,
    GIVEN,
    IMPLIED,
    NOT_FUNCTIONAL,
    NUMBERS,
    OF_ARRAYS,
    UNBOXED,
    WIDENED,
)
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    LITERAL_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
)
from ctx_indexer.syntax.symbols.table import (
    ARRAY,
    CLASS,
    DECLARATION,
    FUNCTION,
    GENERIC,
    Expression,
    Parameter,
    last_name,
)

ANY, NULL, PRIMITIVE, OUTSIDE, VARIABLE = "any", "null", "primitive", "outside", "variable"
NULL_VALUE = f"{BUILTINS}.{NULL}"
_CREATED = ".new"  # ends a reference to a constructor


class Type(NamedTuple):
    """The type of an expression: a class of the repo, or a name; ANY where it is not known."""

    kind: str
    name: str = ""
    path: str = ""
    scope: int = 0
    dimensions: int = 0  # how deep an array is: 2 of `int[][]`


class Fit(NamedTuple):
    """How an argument fits a parameter: as it is (1) or boxed (2), and whether that is sure."""

    phase: int
    is_sure: bool = True


UNKNOWN_TYPE = Type(ANY)
OBJECT = Type(OUTSIDE, "Object")
_SURE, _BOXED, _MAYBE = Fit(1), Fit(2), Fit(1, is_sure=False)


class StaticTypes:
    """Tells the types of expressions, and how one fits another."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def given(self, place: ScopeRef, expression: Expression) -> Type:
        """Return the type of an argument: `1` → `int`; of a lambda, its function."""
        if isinstance(expression, str) and expression.endswith(_CREATED):
            return Type(FUNCTION)
        return self.of(self._machine.evaluate(place, expression))

    def expected(self, method: Value, parameter: Parameter) -> Type:
        """Return the type of a parameter: `Cart[] carts` → an array of `Cart`."""
        key = ("expected", method, parameter.name)
        return self._machine.remember(key, lambda: self._expected(method, parameter.type))

    def _expected(self, method: Value, written: Expression) -> Type:
        if isinstance(written, list) and written[:2] == [GENERIC, ARRAY] and len(written) > 2:
            inner = self._expected(method, written[2])
            return inner._replace(dimensions=inner.dimensions + 1)
        if self.is_variable(method, written):
            bound = self.of(self._machine.evaluate(ScopeRef(method.path, method.scope), written))
            return bound if bound.kind != ANY else Type(VARIABLE)
        return self.of(self._machine.evaluate(ScopeRef(method.path, method.scope), written))

    def is_variable(self, method: Value, written: Expression) -> bool:
        """Whether a type is a parameter of the method, or of a class around it."""
        file = self._machine.file(method.path)
        number = method.scope
        while file is not None and isinstance(written, str) and number > 0:
            if is_type_variable(file, number, written):
                return True
            number = file.scope(number).parent
        return False

    def of(self, values: Values) -> Type:
        """Return the type of values: of `null` and a `Gear`, `Gear`; of two types, unknown."""
        found = {self._of(value) for value in values}
        if len(found) > 1:
            found = {each for each in found if each.kind != NULL}
        return found.pop() if len(found) == 1 else UNKNOWN_TYPE

    def _of(self, value: Value) -> Type:
        if value.kind == INSTANCE:
            return Type(CLASS, "", value.path, value.scope)
        if value.kind == EXTERNAL:
            return _named(value.name)
        if value.kind == LITERAL_VALUE and not value.name:
            return self._generic(value)
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return UNKNOWN_TYPE
        kind = file.scope(value.scope).kind
        is_type = kind in (CLASS, FUNCTION)
        return Type(kind, "", value.path, value.scope) if is_type else UNKNOWN_TYPE

    def _generic(self, value: Value) -> Type:
        literal = json.loads(value.expression)
        if literal[0] != GENERIC:
            return UNKNOWN_TYPE
        if literal[1] == ARRAY:
            place = ScopeRef(value.path, value.scope)
            inner = self.of(self._machine.evaluate(place, literal[2]))
            return inner._replace(dimensions=inner.dimensions + 1)
        return Type(OUTSIDE, last_name(literal[1]))

    def operation(self, left: Values, right: Values) -> Values:
        """Return the result of an operator with two values: `1 + 2.0` → a `double`."""
        names = {_unboxed(self.of(each)).name.lower() for each in (left, right)}
        if "string" in names:
            return external(f"{BUILTINS}.String")
        if names == {"boolean"}:
            return external(f"{BUILTINS}.boolean")
        if not names <= WIDENED.keys():
            return UNRESOLVED_VALUES
        return external(f"{BUILTINS}.{next((n for n in NUMBERS if n in names), 'int')}")

    # Whether a type fits another

    def fit(self, given: Type, expected: Type) -> Fit | None:
        """Tell how a type fits another: `int` fits `Integer` boxed; None where it does not."""
        if given.kind == VARIABLE:
            given = OBJECT._replace(dimensions=given.dimensions)
        if ANY in (given.kind, expected.kind):
            return self._fit_unknown(given, expected)
        if expected.dimensions:
            return self._fit_array(given, expected)
        if expected.kind == VARIABLE:
            return _BOXED if given.kind == PRIMITIVE and not given.dimensions else _SURE
        if given.dimensions:
            return _SURE if expected.kind == OUTSIDE and expected.name in OF_ARRAYS else None
        if given.kind == NULL:
            return None if expected.kind == PRIMITIVE else _SURE
        if given.kind == FUNCTION:
            return self._fit_function(given, expected)
        if PRIMITIVE in (given.kind, expected.kind):
            return _fit_primitive(given, expected)
        return self._fit_class(given, expected)

    def _fit_unknown(self, given: Type, expected: Type) -> Fit | None:
        if given.kind == ANY and given.dimensions and not expected.dimensions:
            is_open = expected.kind in (ANY, VARIABLE) or expected.name in OF_ARRAYS
            return _MAYBE if is_open else None
        if expected.kind == ANY and expected.dimensions > given.dimensions and given.kind != ANY:
            return _MAYBE if given.kind == NULL else None
        return _MAYBE

    def _fit_array(self, given: Type, expected: Type) -> Fit | None:
        if given.kind == NULL:
            return _SURE
        if not given.dimensions:
            return None
        given = given._replace(dimensions=given.dimensions - 1)
        expected = expected._replace(dimensions=expected.dimensions - 1)
        is_plain = not given.dimensions and not expected.dimensions
        if is_plain and PRIMITIVE in (given.kind, expected.kind):
            return _SURE if given == expected else None
        return self.fit(given, expected)

    def _fit_function(self, given: Type, expected: Type) -> Fit | None:
        if expected.kind == PRIMITIVE or expected.name in NOT_FUNCTIONAL:
            return None
        count = self._lambda_count(given)
        wanted = FUNCTIONAL.get(expected.name) if expected.kind == OUTSIDE else None
        if expected.kind == CLASS:
            declared = self._declared_methods(expected)
            if len(declared) != 1:
                return None
            wanted = declared.pop()
        return None if wanted is not None and count not in (None, wanted) else _MAYBE

    def _lambda_count(self, given: Type) -> int | None:
        """Return the number of a lambda's parameters; None for a reference to a method."""
        file = self._machine.file(given.path)
        scope = file.scope(given.scope) if file else None
        return len(scope.parameters) if scope is not None and not scope.returns else None

    def _declared_methods(self, type_: Type) -> set[int]:
        """Return how many parameters the methods have that an interface only declares."""
        found: dict[str, int] = {}
        for place in reversed(self._machine.classes.ancestors(ScopeRef(type_.path, type_.scope))):
            file = self._machine.file(place.path)
            for number in members_of(file, place.scope) if file else ():
                scope = file.scope(number) if file else None
                if scope is not None and DECLARATION in scope.marks:
                    found[scope.name] = len(scope.parameters)
                elif scope is not None:
                    found.pop(scope.name, None)
        return set(found.values())

    def _fit_class(self, given: Type, expected: Type) -> Fit | None:
        if expected in (OBJECT, given):
            return _SURE
        if given.kind == OUTSIDE:
            return self._fit_outside(given, expected)
        ancestors = self._machine.classes.ancestors(ScopeRef(given.path, given.scope))
        if expected.kind == CLASS:
            return _SURE if ScopeRef(expected.path, expected.scope) in ancestors else None
        names = {name for place in ancestors for name in self._base_names(place)}
        if expected.name in names:
            return _SURE
        if expected.name in FINAL:
            return None
        value = Value(INSTANCE, given.path, given.scope)
        is_open = expected.name in IMPLIED or self._machine.classes.has_foreign_base(value)
        return _MAYBE if is_open else None

    def _fit_outside(self, given: Type, expected: Type) -> Fit | None:
        if expected.kind == CLASS:
            file = self._machine.file(expected.path)
            same = file is not None and file.scope(expected.scope).name == given.name
            return _MAYBE if same else None
        if given.name in FINAL:
            return _SURE if expected.name in FINAL[given.name] else None
        return None if expected.name in FINAL else _MAYBE

    def _base_names(self, place: ScopeRef) -> list[str]:
        file = self._machine.file(place.path)
        return [last_name(base) for base in file.scope(place.scope).bases] if file else []


def given_by(name: str) -> Values:
    """Return the result of a method of the library: `String.length` → an `int`; else unknown."""
    path, _, method = name.rpartition(".")
    owner = path.rpartition(".")[2]
    owner = "String" if owner == "string" else owner
    written = GIVEN.get((owner, method)) or GIVEN.get(("Object", method))
    return external(f"{BUILTINS}.{written}") if written else UNRESOLVED_VALUES


def _named(name: str) -> Type:
    """Return the type that an external name stands for: `builtins.int` → the primitive `int`."""
    outer, _, last = name.rpartition(".")
    dimensions = last.count("[")
    last = last.replace("[]", "")
    if outer == BUILTINS:
        if last == NULL:
            return Type(NULL)
        if last in WIDENED:
            return Type(PRIMITIVE, last, dimensions=dimensions)
        last = "String" if last == "string" else last
    if not last[:1].isupper():
        return UNKNOWN_TYPE
    owner = outer.rpartition(".")[2]
    if owner == "Math":
        return Type(PRIMITIVE, "double")
    if owner in UNBOXED and owner != "Boolean":
        return Type(PRIMITIVE, UNBOXED[owner])  # a constant, as `Double.NaN`
    is_constant = outer.rpartition(".")[2][:1].isupper() and last.isupper()
    return UNKNOWN_TYPE if is_constant else Type(OUTSIDE, last, dimensions=dimensions)


def _unboxed(type_: Type) -> Type:
    name = UNBOXED.get(type_.name)
    return Type(PRIMITIVE, name) if name and type_.kind == OUTSIDE else type_


def _fit_primitive(given: Type, expected: Type) -> Fit | None:
    if given.kind == expected.kind == PRIMITIVE:
        widened = expected.name in WIDENED.get(given.name, ())
        return _SURE if widened or given.name == expected.name else None
    if given.kind == PRIMITIVE:
        box = BOXES.get(given.name, "")
        is_boxed = expected.kind == OUTSIDE and expected.name in {box, *FINAL.get(box, ())}
        return _BOXED if is_boxed else None
    inner = _unboxed(given)
    return _BOXED if inner is not given and _fit_primitive(inner, expected) else None
