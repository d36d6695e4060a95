"""Where this process, and the worker processes that it starts, import from.

Python looks into the folder of `python -m`, and into those of PYTHONPATH, before its own library: a
project's `json.py` or `ctx_core.py` would run in place of ours, and its `msvcrt.py` where a library
asks whether this is Windows. An entry point calls this before it imports anything else:

    sys.path[:] = [OURS, *reversed(sys.path)]  # finds this file and the library
    from ctx_core.environment.import_path import leave_guests_out

    leave_guests_out()

This file imports only modules that no folder can replace: the interpreter holds them.
"""

import os
import sys

PATH, SAFE = "PYTHONPATH", "PYTHONSAFEPATH"

_given: dict[str, str | None] = {}  # values of both before they were ours


def leave_guests_out(*roots: str) -> None:
    """Order `sys.path`, which an entry point reversed, and let children inherit that order.

    `roots` are folders of our packages beside the one that this file is of.
    """
    library = os.path.dirname(os.__file__)
    ours = [os.path.dirname(os.path.dirname(os.path.dirname(__file__))), *roots]
    _given.update({name: os.environ.get(name) for name in (PATH, SAFE)})
    sys.path[:] = ordered(sys.path[::-1], library, ours, _asked(_given[PATH]))
    os.environ[SAFE] = "1"
    if PATH in os.environ:  # workers import from it before they are told our order
        os.environ[PATH] = os.pathsep.join(sys.path)


def ordered(path: list[str], library: str, ours: list[str], asked: list[str]) -> list[str]:
    """Take guests out: the folders before the library, and the folders of PYTHONPATH.

    `[guest, library, packages] → [library, packages]`. One that packages were installed in goes to
    the end, one that ctx is run from to the front: `[guest, ours, library] → [ours, library]`.
    """
    first = path.index(library) if library in path else 0
    before = {*path[:first], *asked}
    inside = os.path.join(library, "")
    guests = [each for each in path if each in before and not f"{each}{os.sep}".startswith(inside)]
    kept = [each for each in path if each not in guests]
    installed = [each for each in guests if _has_packages(each)]
    return [*dict.fromkeys([each for each in ours if each in guests] + kept + installed)]


def _asked(given: str | None) -> list[str]:
    """Return the folders of PYTHONPATH as `sys.path` has them: `lib:. → /here/lib, /here`."""
    folders = given.split(os.pathsep) if given else []
    try:
        return [os.path.abspath(each) for each in folders]
    except OSError:  # the folder that this process was started in is gone
        return folders


def _has_packages(folder: str) -> bool:
    """Whether an installer wrote here, as with `pip install --target`: a project has no such."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def given_environment() -> dict[str, str]:
    """Return the environment that this process was started with, for other people's programs."""
    inherited = {name: value for name, value in os.environ.items() if name not in _given}
    return inherited | {name: value for name, value in _given.items() if value is not None}
