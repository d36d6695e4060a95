"""The indexer's tools over a workspace of two files."""

from collections.abc import Iterator
from typing import Any

import pytest

from ctx_core.engine.engine import Engine
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_indexer.service import open_context
from ctx_indexer.tools.admin import admin_tools
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.index import index_tools
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function


@pytest.fixture
def workspace(repository: Repository) -> Repository:
    repository.write("a.py", function("alpha"))
    repository.write("lib/b.py", function("beta"))
    return repository


@pytest.fixture
def context(settings: Settings, bench: Bench, workspace: Repository) -> Iterator[IndexerContext]:
    here = settings.model_copy(update={"workspace": workspace.root})
    opened = open_context(here, Engine(bench.store, bench.engine.embedder), SessionDefaults())
    yield opened
    opened.close()


@pytest.fixture
def tools(context: IndexerContext) -> Any:
    """Every tool by its name."""
    found = [*index_tools(context), *admin_tools(context)]
    return type("Tools", (), {tool.name: staticmethod(tool.run) for tool in found})
