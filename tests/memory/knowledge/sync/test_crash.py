"""`kill -9` before every step of a sync: nothing is lost, and the repository is never broken."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ctx_memory.knowledge.decisions import all_decisions, record_decision
from ctx_memory.knowledge.documents import Decision
from ctx_memory.records.store import Records
from scripts.bench.fixtures.clones import Clone, Clones, clone_at, open_clones
from tests.support.processes import ROOT

# Every step of every scenario takes minutes: the suite tries each sixth, CRASH_STRIDE=1 all.
STRIDE = int(os.environ.get("CRASH_STRIDE", "6"))
BASE = "intro\n\n## A\na\n\n## B\nb\n\n## C\nc\n"
FACTS = ("from a", "only a", "from b", "only b")  # every one is in both clones in the end


async def diverged(clones: Clones) -> tuple[Clone, Clone]:
    """Both clones changed one entry in different sections, and recorded a decision each."""
    a, b = clones.clone("a"), clones.clone("b")
    await a.put("arch", BASE)
    await a.put("old", "to be removed")
    await a.push()
    await b.pull()
    await a.put("arch", BASE.replace("\na\n", "\nfrom a\n"))
    await a.put("other", "only a")
    await a.drop("old")
    await record_decision(a.store, Decision(0, "Of a"))
    await b.put("arch", BASE.replace("\nc\n", "\nfrom b\n"))
    await b.put("mine", "only b")
    await record_decision(b.store, Decision(0, "Of b"))
    b.repository.write("staged.py", "staged")
    b.git("add", "staged.py")
    b.repository.write("code.py", "changed")
    return a, b


async def same_code(clones: Clones) -> None:
    a, _ = await diverged(clones)
    await a.push()


async def code_at_the_remote(clones: Clones) -> None:
    a, _ = await diverged(clones)
    a.code("new.py", "new")
    a.git("push", "-q", "origin", "main")
    await a.push()


async def code_on_both_sides(clones: Clones) -> None:
    a, b = await diverged(clones)
    a.code("new.py", "new")
    a.git("push", "-q", "origin", "main")
    await a.push()
    b.code("local.py", "local")


async def local_code(clones: Clones) -> None:
    a, b = await diverged(clones)
    await a.push()
    b.code("local.py", "local")


async def resolved_conflict(clones: Clones) -> None:
    a, b = await diverged(clones)
    await a.put("clash", "## X\nof a\n")
    await a.push()
    await b.put("clash", "## X\nof b\n")
    assert (await b.pull("agent"))["status"] == "conflicts"
    await b.resolution.resolve("knowledge/clash.md", "## X\nboth: of a, of b\n")


SCENARIOS: list[tuple[Callable[[Clones], Awaitable[None]], str]] = [
    (same_code, "push"),
    (code_at_the_remote, "push"),
    (code_on_both_sides, "push"),
    (local_code, "push"),
    (same_code, "pull"),
    (code_on_both_sides, "pull"),
    (resolved_conflict, "finalize"),
]


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(("scenario", "action"), SCENARIOS)
async def test_a_sync_may_be_killed_at_every_step(
    area: Path, scenario: Callable[[Clones], Awaitable[None]], action: str
) -> None:
    prepared = area / "prepared"
    prepared.mkdir()
    async with open_clones(prepared) as clones:
        await scenario(clones)
    before = code_status(prepared)
    offset = SCENARIOS.index((scenario, action)) % STRIDE
    steps = kill_at_each_step(prepared, action, offset)
    assert steps > 20
    for step in range(1 + offset, steps + 1, STRIDE):
        folder = area / f"step-{step}"
        await _check(folder, action, before, f"killed before step {step} of {steps}")
        shutil.rmtree(folder)


def kill_at_each_step(prepared: Path, action: str, offset: int) -> int:
    """How many steps the action has; beside the scenario lies a copy for each that was tried."""
    command = [sys.executable, "-m", "tests.support.sync_crasher", str(prepared), action]
    command += [str(1 + offset), str(STRIDE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def fsck(repository: Path) -> None:
    command = ["git", "-C", str(repository), "fsck", "--strict", "--no-dangling"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def code_status(folder: Path) -> list[str]:
    """What git says of the code of clone b, and what is staged of it."""
    git = ["git", "-C", str(folder / "b")]
    outside = ["--", ".", ":(exclude).context-teleport"]
    shown = [
        subprocess.run([*git, *command, *outside], check=True, capture_output=True, text=True)
        for command in (["status", "--porcelain"], ["diff", "--cached"], ["diff"])
    ]
    return [each.stdout for each in shown]


async def _check(folder: Path, action: str, before: list[str], when: str) -> None:
    """The clone works, has lost nothing, and shares everything with the next sync."""
    _wait_for_git(folder)
    assert code_status(folder) == before, when
    for repository in ("b", "remote.git"):
        fsck(folder / repository)
    records = await Records.open(f"sqlite:///{folder / 'records.sqlite'}")
    try:
        a, b = clone_at(folder / "a", records), clone_at(folder / "b", records)
        if action == "finalize" and (await b.resolution.status())["status"] == "conflicts":
            await b.resolution.finalize()
        assert (await b.push())["status"] in ("pushed", "nothing_to_push"), when
        assert (await a.pull())["status"] in ("pulled", "merged", "up_to_date"), when
        assert await a.texts() == await b.texts(), when
        text = "\n".join((await b.texts()).values())
        for fact in (*FACTS, *(("both: of a, of b",) if action == "finalize" else ())):
            assert fact in text, f"{when}: {fact} is lost"
        assert "to be removed" not in text, when
        titles = [each.decision.title for each in await all_decisions(a.store)]
        assert sorted(titles) == ["Of a", "Of b"], when
        assert code_status(folder) == before, when
        assert not [line for line in b.status() if ".context-teleport" in line], when
    finally:
        await records.close()


def _wait_for_git(folder: Path) -> None:
    """A git that was running when its parent was killed ends by itself."""
    locks = [folder / "b" / ".git" / "index.lock", folder / "b" / ".git" / "HEAD.lock"]
    until = time.monotonic() + 5
    while any(lock.exists() for lock in locks) and time.monotonic() < until:
        time.sleep(0.02)
