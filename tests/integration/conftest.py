from collections.abc import Iterator

import pytest

from tests.support.processes import Server, environment, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`ctx up`, embedded, shared by all tests of this room that change no setting."""
    with running(environment(tmp_path_factory.mktemp("ctx") / "data")) as started:
        yield started
