"""Clones of one bare repository, each with its knowledge."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctx_memory.knowledge.folder import FOLDER_NAME
from ctx_memory.knowledge.private import PrivateEntries
from ctx_memory.knowledge.project import Project
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.sync.git_sync import GitSync
from ctx_memory.knowledge.sync.resolution import ConflictResolution
from ctx_memory.knowledge.types import EntryType, KnowledgeEntry, Scope
from ctx_memory.records.store import Records
from scripts.bench.repositories import Repository

RUN = "run-of-the-test"


@dataclass(frozen=True)
class Clone:
    """A work tree, and the parts of the server that work on its knowledge."""

    repository: Repository
    store: KnowledgeStore
    sync: GitSync
    resolution: ConflictResolution

    @property
    def root(self) -> Path:
        return self.repository.root

    @property
    def folder(self) -> Path:
        return self.root / FOLDER_NAME

    def git(self, *arguments: str) -> str:
        return self.repository.git(*arguments)

    async def put(
        self,
        key: str,
        content: str,
        scope: Scope = Scope.PUBLIC,
        entry_type: EntryType = EntryType.KNOWLEDGE,
    ) -> None:
        entry = KnowledgeEntry(entry_type, key, content, scope, "mcp:test")
        await self.store.write(lambda: self.store.save(entry))

    async def drop(self, key: str, entry_type: EntryType = EntryType.KNOWLEDGE) -> None:
        assert await self.store.remove(entry_type, key)

    async def text(self, key: str, entry_type: EntryType = EntryType.KNOWLEDGE) -> str | None:
        entry = await self.store.get(entry_type, key)
        return None if entry is None else entry.content

    async def texts(self) -> dict[str, str]:
        return {entry.key: entry.content for entry in await self.store.all(EntryType.KNOWLEDGE)}

    async def push(self) -> dict[str, Any]:
        return await self.sync.push()

    async def pull(self, strategy: str = "ours") -> dict[str, Any]:
        return await self.sync.pull(strategy)

    def code(self, path: str, content: str, message: str = "code") -> None:
        """Commit a file outside the knowledge folder, as a person does."""
        self.repository.write(path, content)
        self.git("add", path)
        self.git("commit", "-q", "-m", message, "--", path)

    def status(self) -> list[str]:
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()


def clone_at(root: Path, records: Records, run: str = RUN) -> Clone:
    """The parts over a work tree that is there."""
    project = Project(root)
    private = PrivateEntries(records.private, run, project.private_id)
    store = KnowledgeStore(project, private, auto_init=True)
    sync = GitSync(store)
    return Clone(Repository(root), store, sync, ConflictResolution(store, sync))


@dataclass(frozen=True)
class Clones:
    """A bare repository and what is cloned from it."""

    remote: Path
    records: Records

    def clone(self, name: str) -> Clone:
        root = self.remote.parent / name
        subprocess.run(["git", "clone", "-q", str(self.remote), str(root)], check=True,
                       capture_output=True)  # fmt: skip
        identify(root)
        return clone_at(root, self.records)


def identify(root: Path) -> None:
    for key, value in (("user.name", root.name), ("user.email", f"{root.name}@example.org")):
        subprocess.run(["git", "-C", str(root), "config", key, value], check=True)


def bare(folder: Path, *, with_code: bool = True) -> Path:
    """A bare repository, with a commit of code unless told otherwise."""
    remote = folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
    if with_code:
        first = Repository.create(folder / "first")
        first.write("code.py", "print(1)\n")
        first.commit("first")
        first.git("push", "-q", str(remote), "main")
    return remote


@asynccontextmanager
async def open_clones(folder: Path, *, with_code: bool = True) -> AsyncIterator[Clones]:
    remote = bare(folder, with_code=with_code)
    records = await Records.open(f"sqlite:///{folder / 'records.sqlite'}")
    try:
        yield Clones(remote, records)
    finally:
        await records.close()


def committed(root: Path, commit: str = "HEAD") -> dict[str, bytes]:
    """The knowledge folder of a commit, read by git itself."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-tree", "-r", "-z", "--name-only", commit, FOLDER_NAME],
        check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip
    return {
        path.removeprefix(f"{FOLDER_NAME}/"): subprocess.run(
            ["git", "-C", str(root), "cat-file", "blob", f"{commit}:{path}"],
            check=True, capture_output=True,
        ).stdout
        for path in listed.split("\0")[:-1]
    }  # fmt: skip


def every_object(root: Path) -> bytes:
    """All that git keeps of a repository, unpacked, reachable or not."""
    listed = subprocess.run(
        ["git", "-C", str(root), "cat-file", "--batch", "--batch-all-objects", "--unordered"],
        check=True, capture_output=True,
    )  # fmt: skip
    return listed.stdout
