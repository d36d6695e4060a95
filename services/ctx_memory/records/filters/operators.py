"""The sixteen operators of metadata filters, and which values each takes."""

import math
import operator as operators
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement

MAX_LISTED = 1000  # values of `in` and `not_in`: far below the limits of both databases


class Operator(StrEnum):
    """An operator by its name in the contract.

    A key with a null value does not exist: `exists` and `is_not_null` are the same. `ne` and
    `not_in` match only where a value exists; `is_null` matches null, not a missing key.
    """

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    NOT_IN = "not_in"
    EXISTS = "exists"
    NOT_EXISTS = "not_exists"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    IS_NULL = "is_null"
    IS_NOT_NULL = "is_not_null"
    ARRAY_CONTAINS = "array_contains"


# Operators that negate another one.
OPPOSITES = {
    Operator.NE: Operator.EQ,
    Operator.NOT_IN: Operator.IN,
    Operator.NOT_EXISTS: Operator.EXISTS,
}


COMPARISONS: Mapping[Operator, Callable[[Any, Any], ColumnElement[bool]]] = {
    Operator.GT: operators.gt,
    Operator.GTE: operators.ge,
    Operator.LT: operators.lt,
    Operator.LTE: operators.le,
}


def wrong_value(operator: Operator, value: Any) -> str | None:
    """Return an error where the operator does not take this value, else None."""
    takes, accepts = _TAKES[operator]
    if accepts(value):
        return None
    return f"operator '{operator}' takes {takes}, got {_described(value)}"


def is_text(value: Any) -> bool:
    """Whether the value is a string that both databases can compare with."""
    return isinstance(value, str) and "\x00" not in value and _is_unicode(value)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool) or is_text(value) or _is_number(value)


def _is_list(value: Any) -> bool:
    is_list = isinstance(value, list | tuple) and 0 < len(value) <= MAX_LISTED
    return is_list and all(_is_scalar(each) for each in value)


def _is_left_out(value: Any) -> bool:
    return value is None or value is True


_SCALAR = (
    "a string, a number, a boolean or null (use array_contains for the elements of a list, and a "
    "dotted key for what is inside an object)",
    _is_scalar,
)
_NUMBER = ("a number", _is_number)
_TEXT = ("a string", is_text)
_LIST = (
    f"a list of one to {MAX_LISTED} strings, numbers, booleans or nulls",
    _is_list,
)
_NOTHING = ("no value", _is_left_out)
_TAKES: Mapping[Operator, tuple[str, Callable[[Any], bool]]] = {
    Operator.EQ: _SCALAR,
    Operator.NE: _SCALAR,
    Operator.GT: _NUMBER,
    Operator.GTE: _NUMBER,
    Operator.LT: _NUMBER,
    Operator.LTE: _NUMBER,
    Operator.IN: _LIST,
    Operator.NOT_IN: _LIST,
    Operator.EXISTS: _NOTHING,
    Operator.NOT_EXISTS: _NOTHING,
    Operator.CONTAINS: _TEXT,
    Operator.STARTS_WITH: _TEXT,
    Operator.ENDS_WITH: _TEXT,
    Operator.IS_NULL: _NOTHING,
    Operator.IS_NOT_NULL: _NOTHING,
    Operator.ARRAY_CONTAINS: ("a string, a number, a boolean or null", _is_scalar),
}


def _described(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int():
            return "a number"
        case float():
            return "a number" if math.isfinite(value) else f"{value}, which JSON does not know"
        case str() if "\x00" in value:
            return "a string with a NUL character"
        case str():
            return "a string" if _is_unicode(value) else "a string with half a character"
        case [] | ():
            return "an empty list"
        case list() | tuple() if len(value) > MAX_LISTED:
            return f"a list of {len(value)}"
        case list() | tuple():
            wrong = next((each for each in value if not _is_scalar(each)), None)
            return "a list" if wrong is None else f"a list with {_described(wrong)} inside"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
