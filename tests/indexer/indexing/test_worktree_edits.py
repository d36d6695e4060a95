"""Any edits in two worktrees: each is seen as if it had been indexed alone."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import without_versions
from ctx_indexer.schema.payload import decode
from tests.support.qdrant import memory
from tests.support.repositories import Repository, function

EXAMPLES = 6
EDITS = 14  # of one example; each is followed by an index run of its worktree
PATHS = ("a.py", "b.py", "src/c.py")
Edit = tuple[int, str, int | None, bool]
"""The worktree, a path, its content (None: it is removed), and whether single files are updated."""

edits = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(PATHS),
        st.one_of(st.none(), st.integers(0, 2)),
        st.booleans(),
    ),
    max_size=EDITS,
)
Seen = set[tuple[str, str, int]]


@asynccontextmanager
async def indexer(data: Path) -> AsyncIterator[tuple[Indexer, Engine]]:
    settings = Settings(data_dir=data)
    async with open_engine(settings, settings.code_model) as engine:
        manifest = Manifest(settings.index_state_path)
        yield Indexer(engine.vectors, engine.embedder, manifest, store_key="test"), engine
        manifest.close()


async def seen(indexer: Indexer, engine: Engine, collection: str, root: Path) -> Seen:
    """Return what a checkout sees of its repo: path, text and line of each chunk."""
    [own] = [each for each in await indexer.checkouts.of(collection) if each.root == root]
    where = without_versions(None, await indexer.checkouts.hidden([own]))
    page, more = await engine.vectors.scroll(collection, where=where, limit=1_000)
    assert more is None
    chunks = [decode(record.payload) for record in page]
    found = {(chunk.path, chunk.text, chunk.start_line) for chunk in chunks}
    assert len(found) == len(chunks)
    return found


def apply(root: Path, path: str, content: int | None) -> None:
    file = root / path
    if content is None:
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(function(f"name{n}") for n in range(content + 1)))


async def check(folder: Path, made: Sequence[Edit]) -> None:
    repository = Repository.create(folder / "repo")
    for path in PATHS:
        apply(repository.root, path, 0)
    repository.commit()
    repository.git("worktree", "add", "-q", str(folder / "tree"))
    roots = [repository.root, folder / "tree"]
    async with indexer(folder / "data") as (indexing, engine):
        for root in roots:
            await indexing.index(root, collection="both")
        for number, path, content, is_single in made:
            apply(roots[number], path, content)
            checkouts = await indexing.checkouts.of("both")
            [own] = [each for each in checkouts if each.root == roots[number]]
            if is_single:
                await indexing.update(own, [path])
            else:
                await indexing.index(own.root, collection="both")
        for number, root in enumerate(roots):
            await indexing.index(root, collection=f"alone{number}")
            alone = await seen(indexing, engine, f"alone{number}", root)
            assert await seen(indexing, engine, "both", root) == alone
        assert await indexing.check("both") == []


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(edits)
def test_each_worktree_is_seen_as_if_it_were_alone(made: list[Edit]) -> None:
    with tempfile.TemporaryDirectory(dir=memory()) as folder:
        asyncio.run(check(Path(folder).resolve(), made))
