"""The files of C and C++ that see a header: they include it, directly or through others."""

from pathlib import PurePosixPath

from ctx_indexer.languages.semantics.machine import Machine

HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")
MAX_DEPTH = 4  # includes from a file to a header; umbrella headers need one or two
MAX_FILES = 300  # files that are followed for one header


class Includers:
    """Finds the files that include a header."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def reaches(self, path: str, header: str) -> bool:
        """Whether a file includes a header, directly or through others."""
        return path in self._machine.remember(("includers", header), lambda: self._all(header))

    def _all(self, header: str) -> frozenset[str]:
        """Return the files that include a header, as far as they are followed."""
        found: set[str] = set()
        pending = {header}
        for _ in range(MAX_DEPTH):
            pending = {each for path in pending for each in self._of(path)} - found
            found |= pending
            if not pending or len(found) > MAX_FILES:
                break
        return frozenset(found)

    def _of(self, header: str) -> set[str]:
        """Return the files that include a header by a name that its path ends in."""
        name = PurePosixPath(header).name
        return {
            file.path
            for file in self._machine.few_callers(name)
            for each in file.table.imports
            if f"/{header}".endswith(f"/{each.module.lstrip('./')}") and each.module
        }
