from collections.abc import Iterator

import pytest

from tests.support.processes import Server, environment, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`ctx up`, embedded, shared by the tests of a module."""
    with running(environment(tmp_path_factory.mktemp("ctx") / "data")) as started:
        yield started
