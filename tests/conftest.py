"""Fixtures that every room's tests may ask for."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ctx_core.settings.models import PROSE_MODEL
from ctx_memory.projection import drains
from tests.support.postgres import postgres_server, postgres_url
from tests.support.qdrant import memory, qdrant_program, qdrant_url
from tests.support.slow import mark_slow, whole_processes_first

# The same cases every time, however slow the machine: a commit passes or it does not. Now and then
# look for new ones: --hypothesis-profile=exploring
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("exploring", deadline=None)
settings.load_profile("steady")

# Where the model is not the point tests use the static one for entries, which is a hundred times
# quicker.
os.environ.setdefault("MEMORY_EMBEDDING_MODEL", PROSE_MODEL)

# A caller waits two seconds for its vectors, and a busy machine may take longer: tests of what is
# stored are about the vectors, those of the wait set it themselves.
drains.MAX_WAIT_SECONDS = 30.0

# A suite that a shell runs in the background ignores Ctrl-C, and so would the servers it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = ["postgres_server", "postgres_url", "qdrant_program", "qdrant_url"]


@pytest.hookimpl(tryfirst=True)  # before -m chooses among the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_slow(items)
    whole_processes_first(items)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory, gone after the test: the engine waits for the disk again and again."""
    folder = Path(tempfile.mkdtemp(prefix="ctx-test-", dir=memory())).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
