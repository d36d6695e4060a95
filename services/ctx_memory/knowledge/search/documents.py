"""The documents that a search looks through: every Markdown file, and private entries."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ctx_core.blocking import DISK
from ctx_memory.knowledge.entry import EntryType, Scope
from ctx_memory.knowledge.public import SKILL_FILE, entry_path
from ctx_memory.knowledge.search.blocks import SPLIT_VERSION, Block, split_blocks
from ctx_memory.knowledge.store import KnowledgeStore


@dataclass(frozen=True)
class Document:
    """A Markdown text, where it lies in the folder, and its blocks."""

    file: str
    content: str
    blocks: Sequence[Block]
    digest: str
    scope: Scope = Scope.PUBLIC

    @property
    def key(self) -> str:
        path = PurePosixPath(self.file)
        return path.parent.name if path.name == SKILL_FILE else path.stem


def document(file: str, content: str, scope: Scope = Scope.PUBLIC) -> Document:
    digest = hashlib.sha256(f"{SPLIT_VERSION}\0{content}".encode()).hexdigest()[:32]
    return Document(file, content, split_blocks(content), digest, scope)


class Documents:
    """Reads a project's documents; a file that has not changed is not read again."""

    def __init__(self, store: KnowledgeStore) -> None:
        self._store = store
        self._read: dict[str, tuple[tuple[int, ...], Document]] = {}

    async def all(self) -> dict[str, Document]:
        """Return the documents by file. A private entry hides a public one of its key."""
        found = await DISK.run(self._public)
        for entry_type in EntryType:
            for entry in await self._store.private.all(entry_type):
                file = entry_path(entry_type, entry.key)
                found[file] = document(file, entry.content, entry.scope)
        return found

    def _public(self) -> dict[str, Document]:
        folder = self._store.project.folder
        known = self._read
        read: dict[str, tuple[tuple[int, ...], Document]] = {}
        for file, status in folder.files().items():
            if not file.endswith(".md"):
                continue
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            if file in known and known[file][0] == stamp:
                read[file] = known[file]
            elif (content := folder.read(file)) is not None:
                read[file] = (stamp, document(file, content))
        self._read = read  # at once: several searches read at the same time
        return {file: each for file, (_, each) in read.items()}
