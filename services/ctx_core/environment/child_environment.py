"""The environment that programs started by ctx inherit."""

import os
from collections.abc import Callable


def child_environment(keep: Callable[[str], bool]) -> dict[str, str]:
    """Copy the variables of this process whose names `keep` accepts."""
    return {name: value for name, value in os.environ.items() if keep(name)}
