"""Random histories of two clones merge without loss; scripts.bench.memory.histories runs 1,000."""

from pathlib import Path

import pytest

from scripts.bench.fixtures.clones import Clones
from scripts.bench.memory.clone_history import LINE, Loss, TwoClones
from scripts.bench.memory.histories import merge_history

HISTORIES = 15


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_random_histories_of_two_clones_merge_without_loss(area: Path) -> None:
    for seed in range(HISTORIES):
        folder = area / str(seed)
        folder.mkdir()
        assert (await merge_history(seed, folder))["histories_run"] == 1, seed


async def test_a_lost_line_is_noticed(clones: Clones) -> None:
    history = TwoClones(3, clones)
    await history.run()
    await history.sync_all()
    await history.check()
    somebody = clones.clone("somebody")
    file = next(path for path in (somebody.folder / "knowledge").glob("*.md"))
    file.write_text(LINE.sub("", file.read_text(), count=1))
    await somebody.push()
    await history.sync_all()
    with pytest.raises(Loss, match="is gone unsaid"):
        await history.check()
