"""Every regular expression of the product takes linear time on its worst cases."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.expressions import ANCHORED, Attack, Expression, attacks, expressions

TINY, SHORT, SMALL, LARGE, HUGE = 28, 128, 512, 4_096, 16_384  # characters
SHORT_SECONDS = 0.005  # longer for a short text is exponential or cubic: no longer one is tried
SUSPECT_SECONDS, SUSPECT_GROWTH = 0.001, 16  # for eight times the text
SLOW_SECONDS, SLOW_GROWTH = 0.01, 8  # for four times the text: linear is 4, quadratic 16

# Expressions that never meet foreign text or arguments, and why.
EXEMPT: Mapping[str, str] = {}


@pytest.mark.slow
def test_worst_cases_take_linear_time() -> None:
    found = {each.place: each for each in expressions()}
    assert len(found) > 100
    assert not set(EXEMPT) - set(found), "exempt, but there is no such expression"
    slow = {
        place: (expression.pattern.pattern, attack)
        for place, expression in found.items()
        if place not in EXEMPT and (attack := _first_superlinear(expression))
    }
    assert not slow


def _first_superlinear(expression: Expression) -> Attack | None:
    """Return a text on which the expression takes more than linear time, if there is one."""
    tried = attacks(expression.pattern)
    return next((attack for attack in tried if _is_superlinear(expression, attack)), None)


def _is_superlinear(expression: Expression, attack: Attack) -> bool:
    if any(_is_late(expression, attack, size) for size in (TINY, SHORT, SMALL)):
        return True
    small, large = _seconds(expression, attack, SMALL), _seconds(expression, attack, LARGE)
    if large < SUSPECT_SECONDS or large < SUSPECT_GROWTH * small:
        return False
    large, huge = _best(expression, attack, LARGE), _best(expression, attack, HUGE)
    return huge > SLOW_SECONDS and huge > SLOW_GROWTH * large


def _is_late(expression: Expression, attack: Attack, size: int) -> bool:
    """Whether a short text takes long, also the best of three more times."""
    if _seconds(expression, attack, size) <= SHORT_SECONDS:
        return False
    return _best(expression, attack, size) > SHORT_SECONDS


def _best(expression: Expression, attack: Attack, size: int) -> float:
    """Return the least of three times: a pause of the machine is no growth."""
    return min(_seconds(expression, attack, size) for _ in range(3))


def _seconds(expression: Expression, attack: Attack, size: int) -> float:
    pattern, text = expression.pattern, attack.text(size)
    subject: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    started = time.thread_time()
    if not expression.methods <= ANCHORED:
        deque(pattern.finditer(subject), maxlen=0)
    if "match" in expression.methods:
        pattern.match(subject)
    if "fullmatch" in expression.methods:
        pattern.fullmatch(subject)
    return time.thread_time() - started
