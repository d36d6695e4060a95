"""PostgreSQL for tests: every test gets an empty database of one server."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from scripts.bench.fixtures.postgres import Unobtainable, execute, running_server, sibling
from tests.support.qdrant import memory

__all__ = ["execute", "postgres_server", "postgres_url", "sibling"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a running server's maintenance database."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(running_server(parent=memory()))
        except Unobtainable as reason:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(f"no PostgreSQL: {reason}; set POSTGRES_TEST_URL to one")
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database."""
    name = f"ctx_{uuid4().hex[:12]}"
    execute(postgres_server, f"CREATE DATABASE {name} STRATEGY file_copy")
    yield sibling(postgres_server, name)
    execute(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")
