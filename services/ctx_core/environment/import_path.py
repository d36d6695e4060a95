"""Where this process, and the worker processes that it starts, import from.

Python looks into the folder of `python -m`, and into those of PYTHONPATH, before its own library: a
project's `json.py` or `ctx_core.py` would run in place of ours. An entry point calls this before it
imports anything that such a folder could hold:

    sys.path[:] = [OURS, *reversed(sys.path)]  # finds this file and the library
    from ctx_core.environment.import_path import put_guests_last

    put_guests_last()

This file imports only modules that no folder can replace: the interpreter holds them.
"""

import os
import sys

PATH, SAFE = "PYTHONPATH", "PYTHONSAFEPATH"

_given: dict[str, str | None] = {}  # values of both before they were ours


def put_guests_last() -> None:
    """Order `sys.path`, which an entry point reversed, and let children inherit that order."""
    library = os.path.dirname(os.__file__)
    ours = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    sys.path[:] = ordered(sys.path[::-1], library, ours)
    _given.update({name: os.environ.get(name) for name in (PATH, SAFE)})
    os.environ[SAFE] = "1"
    if PATH in os.environ:  # workers import from it before they are told our order
        os.environ[PATH] = os.pathsep.join(sys.path)


def ordered(path: list[str], library: str, ours: str) -> list[str]:
    """Move guests, the folders before the library, to the end: found where nothing else is.

    `[guest, library, packages] → [library, packages, guest]`; a folder of PYTHONPATH that ctx
    itself is run from stays: `[guest, ours, library] → [ours, library, guest]`.
    """
    first = path.index(library) if library in path else 0
    guests = path[:first]
    return [*dict.fromkeys([ours] * (ours in guests) + path[first:] + guests)]


def given_environment() -> dict[str, str]:
    """Return the environment that this process was started with, for other people's programs."""
    inherited = {name: value for name, value in os.environ.items() if name not in _given}
    return inherited | {name: value for name, value in _given.items() if value is not None}
