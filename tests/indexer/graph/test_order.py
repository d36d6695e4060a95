"""Answers have one order in every process, whatever seed Python draws for its hashes."""

import os
import subprocess
import sys

SEEDS = ("1", "2", "3")
# An answer may be cut to the first of several values, such as equal names of a template in C++.
PROGRAM = """
from ctx_indexer.languages.semantics.values import DEFINITION, Value
values = frozenset(Value(DEFINITION, f"shop/cart_{n}.py", n) for n in range(40))
print([value.path for value in values])
"""


def order(seed: str) -> str:
    """Return the order of a set of values in a process with a seed."""
    command = [sys.executable, "-c", PROGRAM]
    env = os.environ | {"PYTHONHASHSEED": seed}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_sets_of_values_have_one_order() -> None:
    first, *others = [order(seed) for seed in SEEDS]
    assert first.count("cart_") == 40
    assert others == [first, first]
