"""Which tests `scripts/test --quick` leaves out.

Those marked `slow` by hand, tests of whole processes and of clones that sync, and the second
database and vector store of tests that run on both: quick tests use SQLite and the embedded engine.
"""

from collections.abc import Iterable

import pytest

WHOLE_PROCESSES = ("tests/integration/", "tests/e2e/", "tests/contract/")
MANY_CLONES = "tests/memory/knowledge/sync/"  # real git, some hundred times
SERVERS = {"postgresql", "server"}  # as fixtures call the second of two backends
SERVER_FIXTURES = {"postgres_server", "postgres_url", "qdrant_program", "qdrant_url"}


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the tests that the rules above name."""
    for item in items:
        if is_slow(item):
            item.add_marker("slow")


def whole_processes_first(items: list[pytest.Item]) -> None:
    """Order the longest files first: one that begins last would keep a single core busy."""
    items.sort(key=lambda item: not item.nodeid.startswith(WHOLE_PROCESSES))


def is_slow(item: pytest.Item) -> bool:
    """Tell whether a rule names this test."""
    if item.nodeid.startswith((*WHOLE_PROCESSES, MANY_CLONES)):
        return True
    chosen = getattr(item, "callspec", None)
    values = chosen.params.values() if chosen else ()
    if any(isinstance(value, str) and value in SERVERS for value in values):
        return True
    return not SERVER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
