"""The environment that programs started by ctx inherit."""

from collections.abc import Callable

from ctx_core.environment.import_path import given_environment


def child_environment(keep: Callable[[str], bool] = lambda _: True) -> dict[str, str]:
    """Copy the variables that this process was given, and whose names `keep` accepts."""
    return {name: value for name, value in given_environment().items() if keep(name)}
