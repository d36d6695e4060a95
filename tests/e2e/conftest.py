"""One running `ctx up` and one folder of Node clients for all tests in this room."""

from collections.abc import Iterator

import pytest

from tests.support.node import Node, node_or_skip
from tests.support.processes import Server, environment, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(environment(tmp_path_factory.mktemp("ctx") / "data")) as started:
        yield started


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    return node_or_skip(tmp_path_factory.mktemp("node"))
