"""Kills a sync at each of its steps: a process for each step, all from one that has imported ctx.

Arguments: a folder with a prepared scenario, the action, the first step and the stride. For each
of these steps `N` there is then a copy `step-N` in which the action was killed before that step.
Prints how many steps the action has.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctx_core import files as core_files
from ctx_core.git import run as git_run
from ctx_memory.knowledge import folder as knowledge_folder
from ctx_memory.records.store import Records
from scripts.bench.fixtures.clones import Clone, clone_at

ACTIONS: dict[str, Callable[[Clone], Any]] = {
    "push": lambda clone: clone.push(),
    "pull": lambda clone: clone.pull(),
    "pull-agent": lambda clone: clone.pull("agent"),
    "finalize": lambda clone: clone.resolution.finalize(),
}


class Steps:
    """Counts what a sync does to the outside: each git command, each file written or removed."""

    def __init__(self, deadly: int) -> None:
        self.count = 0
        self._deadly = deadly

    def counted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count == self._deadly:
                os.kill(os.getpid(), signal.SIGKILL)
            return run(*args, **kwargs)

        return step

    def install(self) -> None:
        git_run.start = self.counted(git_run.start)  # type: ignore[attr-defined]
        writer = self.counted(core_files.replace_file)
        knowledge_folder.replace_file = writer  # type: ignore[attr-defined]
        remove = knowledge_folder.KnowledgeFolder.remove
        knowledge_folder.KnowledgeFolder.remove = self.counted(remove)  # type: ignore[method-assign]


def copy(scenario: Path, target: Path) -> None:
    """Copy a scenario; its clones then have the copied remote."""
    shutil.copytree(scenario, target, symlinks=True)
    for clone in ("a", "b"):
        where = ["git", "-C", str(target / clone), "remote", "set-url", "origin"]
        subprocess.run([*where, str(target / "remote.git")], check=True)


async def act(area: Path, action: str) -> None:
    records = await Records.open(f"sqlite:///{area / 'records.sqlite'}")
    await ACTIONS[action](clone_at(area / "b", records))
    await records.close()


def run(area: Path, action: str, deadly: int) -> int | None:
    """The number of steps; None if the process was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        steps = Steps(deadly)
        steps.install()
        asyncio.run(act(area, action))
        os.write(writing, str(steps.count).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as output:
        text = output.read()
    if os.WIFSIGNALED(status):
        return None
    assert status == 0, f"the action failed with {status}"
    return int(text)


def main() -> None:
    scenario, action = Path(sys.argv[1]), sys.argv[2]
    first, stride = int(sys.argv[3]), int(sys.argv[4])
    counting = scenario.with_name("counting")
    copy(scenario, counting)
    total = run(counting, action, deadly=0)
    assert total
    for step in range(first, total + 1, stride):
        area = scenario.with_name(f"step-{step}")
        copy(scenario, area)
        assert run(area, action, deadly=step) is None, f"step {step} was not reached"
    print(total)


if __name__ == "__main__":
    main()
