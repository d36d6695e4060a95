"""Compares a project's knowledge with what was acknowledged, and looks whether git is sound."""

import subprocess
from pathlib import Path

from scripts.bench.faults.ledger import Ledger
from scripts.bench.faults.world import World

KNOWLEDGE = ".context-teleport/knowledge"
HAS_LOCK = "has a lock"


def inspect_project(world: World, name: str, ledger: Ledger) -> list[str]:
    """Return what does not hold of a server's project, in words. Blocks."""
    project = world.project(name)
    found = [f"{name}: {each}" for each in _unkept(project, ledger)]
    for repository in (project, world.disks[name].folder / "remote.git"):
        found += [f"{name}: {each}" for each in inspect_git(repository)]
    return found


def _unkept(project: Path, ledger: Ledger) -> list[str]:
    lost = []
    for key, claim in ledger.knowledge.items():
        file = project / KNOWLEDGE / f"{key}.md"
        text = file.read_text().strip() if file.exists() else None
        if claim.allows(text):
            claim.accept(text)
        else:
            lost.append(f"knowledge {key} is {text!r:.60}, acknowledged was {claim.sure!r:.60}")
    return lost


def inspect_git(repository: Path) -> list[str]:
    """Return what git finds wrong with a repository, and locks that nobody holds. Blocks."""
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), "fsck", "--no-dangling"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [f"git fsck of {repository.name}: {done.stderr.strip()[:300]}"] * bool(done.returncode)
    folder = repository / ".git" if (repository / ".git").is_dir() else repository
    locks = [lock.relative_to(folder) for lock in folder.rglob("*.lock") if lock.name != "ctx.lock"]
    return found + [f"{repository.name} {HAS_LOCK}: {lock}" for lock in locks]
