"""Takes patterns of targets apart: each target with its part of the value."""

from collections.abc import Iterator

from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    ATTRIBUTE,
    CALL,
    ITEM,
    ITERATED,
    LAMBDA,
    MAPPING,
    SEQUENCE,
    UNKNOWN,
    Expression,
)

Part = tuple[Expression, str, Expression]  # a target, how it comes by its value, the value


def parts(spec: SymbolSpec, target: Expression, how: str, value: Expression) -> Iterator[Part]:
    """Yield the targets of a pattern; a sequence of them takes the items of the value."""
    if not target:
        return
    if isinstance(target, list) and target[0] == SEQUENCE:
        if how == ITERATED and value and spec.reads:
            how, value = ASSIGNED, [ITERATED, value]
        for position, each in enumerate(target[1:]):
            yield from parts(spec, each, how, _item(spec, value, position))
    elif isinstance(target, list) and target[0] == MAPPING:
        for key, each in zip(target[1::2], target[2::2], strict=False):
            yield from parts(spec, each, how, [ATTRIBUTE, value, key] if key else UNKNOWN)
    elif not isinstance(target, list) or target[0] not in (CALL, LAMBDA):
        yield target, how, value


def _item(spec: SymbolSpec, value: Expression, position: int) -> Expression:
    if isinstance(value, list) and value[0] == SEQUENCE and position + 1 < len(value):
        part: Expression = value[position + 1]
        return part
    if spec.comma_ok and value[:1] != [CALL]:
        return value if position == 0 else UNKNOWN
    return [ITEM, value, str(position)] if value else UNKNOWN
