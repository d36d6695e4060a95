"""One running `ctx up`, folder of Node clients and installed wheel for all tests in this room."""

from collections.abc import Iterator

import pytest

from tests.support.node import Node, node_or_skip
from tests.support.processes import Server, environment, running
from tests.support.wheel import installed, wheel

__all__ = ["installed", "wheel"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(environment(tmp_path_factory.mktemp("ctx") / "data")) as started:
        yield started


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    return node_or_skip(tmp_path_factory.mktemp("node"))
