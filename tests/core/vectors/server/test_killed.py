"""A Qdrant server that was killed starts again with what it had acknowledged."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ctx_core.vectors.points import Point
from ctx_core.vectors.queries import Filter, HasId, Match
from ctx_core.vectors.server.store import ServerStore
from ctx_core.vectors.specs import CollectionSpec, IndexKind
from tests.support.qdrant import free_port, memory, run_server, wait_until_ready

IDS = [str(uuid4()) for _ in range(4)]
SPEC = CollectionSpec(dense={"dense": 2}, indexes={"kind": IndexKind.KEYWORD})
KIND = Match("kind", "code")


@pytest.fixture
def storage() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ctx-qdrant-", dir=memory()))
    folder.chmod(0o777)  # for the user that the server runs as
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("where", "left"),
    [
        (Filter(must=[HasId(IDS[:1])]), IDS[1:]),
        (Filter(must=[KIND], must_not=[HasId(IDS[:1])]), IDS[:1]),
        (Filter(must=[KIND, Filter(should=[HasId(IDS[:3])])]), IDS[3:]),
        (Filter(must=[KIND]), []),
    ],
)
async def test_deletions_survive(
    qdrant_program: Path, storage: Path, where: Filter, left: list[str]
) -> None:
    ports = (free_port(), free_port())
    url = f"http://127.0.0.1:{ports[0]}"
    for run in ("before", "after"):
        process = run_server(qdrant_program, storage, *ports)
        try:
            wait_until_ready(url, process, storage)
            store = ServerStore.connect(url, timeout=10)
            if run == "before":
                await store.ensure_collection("killed", SPEC)
                points = [Point(id_, {"dense": [1.0, 0.5]}, {"kind": "code"}) for id_ in IDS]
                await store.upsert("killed", points)
                await store.delete("killed", where)
            found, _ = await store.scroll("killed")
            assert {record.id for record in found} == set(left)
            await store.close()
        finally:
            process.kill()
            process.wait()
