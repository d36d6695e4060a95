"""A name that very many files define: a qualified one is found, a plain one is cut and says so."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from ctx_indexer.lookup.definitions import MAX_PARSED_FILES
from ctx_indexer.tools.read import MAX_LISTED
from tests.contract.engine.code.conftest import Engine, open_client
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = MAX_PARSED_FILES + 15
LAST = f"Task{FILES - 1}"


def task(number: int) -> str:
    return f"class Task{number}:\n    def run(self):\n        return {number}\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tasks(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    repository = Repository.create(tmp_path_factory.mktemp("tasks") / "work")
    for number in range(FILES):
        repository.write(f"tasks/{number:03}.py", task(number))
    repository.write("main.py", f"from tasks import {LAST}\n\n\ndef main():\n    {LAST}().run()\n")
    repository.write("tasks/__init__.py", f"from tasks.{FILES - 1:03} import {LAST}\n")
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), workspace=repository.root)
    async with open_client(settings) as engine:
        yield engine


async def test_a_qualified_name_is_found_in_the_last_of_many_files(tasks: Engine) -> None:
    read = await tasks.call("read_code", name=f"{LAST}.run")
    assert (read["path"], read["symbol"]) == (f"tasks/{FILES - 1:03}.py", f"{LAST}.run")
    found = await tasks.call("search_callers_for", query=f"{LAST}.run")
    assert [definition.split()[-1] for definition in found["definitions"]] == [f"{LAST}.run"]


async def test_a_path_finds_a_name_in_the_last_of_many_files(tasks: Engine) -> None:
    path = f"tasks/{FILES - 1:03}.py"
    assert (await tasks.call("read_code", name="run", path=path))["symbol"] == f"{LAST}.run"


async def test_a_plain_name_is_listed_in_part_and_says_so(tasks: Engine) -> None:
    read = await tasks.call("read_code", name="run")
    assert len(read["definitions"]) == MAX_LISTED
    assert f"{MAX_PARSED_FILES - MAX_LISTED} of them not listed" in read["message"]
    assert f"{FILES - MAX_PARSED_FILES} more files define it" in read["message"]
    found = await tasks.call("search_callers_for", query="run")
    assert not found["complete"]
    more = f"{FILES - MAX_PARSED_FILES} more files define this name; qualify it"
    assert more in found["warnings"]
