"""Conflicts that wait for an agent, kept in the knowledge folder so that they survive restarts."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.documents import dump_json
from ctx_memory.knowledge.folder import FOLDER_NAME, KnowledgeFolder
from ctx_memory.knowledge.manifest import PENDING_CONFLICTS
from ctx_memory.knowledge.merge.markdown import merge_markdown
from ctx_memory.knowledge.merge.tree import FileConflict

PREVIEW_LENGTH = 200


@dataclass(frozen=True)
class PendingFile:
    """A file that both sides changed. None is a side that deleted it.

    `content` is how it was resolved; None while it is not.
    """

    path: str
    ours: str | None
    theirs: str | None
    base: str | None
    messages: tuple[str, ...] = ()
    content: str | None = None

    @property
    def is_resolved(self) -> bool:
        return self.content is not None


@dataclass(frozen=True)
class PendingMerge:
    """A merge that waits: the remote commit, and the files that both sides changed."""

    conflict_id: str
    remote: str
    theirs_commit: str
    prefix: str
    files: tuple[PendingFile, ...]
    auto_resolved: tuple[str, ...] = ()

    @property
    def remaining(self) -> int:
        return sum(not file.is_resolved for file in self.files)

    def file_path(self, file: PendingFile) -> str:
        return f"{self.prefix}/{file.path}"

    def find(self, given: str) -> PendingFile:
        """The file that a path names, from the project's root or in the folder."""
        names = (given, given.removeprefix("./"))
        for file in self.files:
            known = (file.path, self.file_path(file), f"{FOLDER_NAME}/{file.path}")
            if any(name in known for name in names):
                return file
        raise KnowledgeNotFound(f"No unresolved conflict for {given}")

    def resolve(self, given: str, content: str) -> "PendingMerge":
        """The merge with one file resolved; raises KnowledgeNotFound for another file."""
        wanted = self.find(given)
        files = tuple(
            replace(file, content=content) if file is wanted else file for file in self.files
        )
        return replace(self, files=files)

    def report(self) -> dict[str, Any]:
        """The merge as the tools show it: its files, resolved or not, with previews."""
        return {
            "has_conflicts": self.remaining > 0,
            "total": len(self.files),
            "unresolved": self.remaining,
            "auto_resolved": [f"{self.prefix}/{path}" for path in self.auto_resolved],
            "conflicts": [
                {
                    "file_path": self.file_path(file),
                    "ours_preview": (file.ours or "")[:PREVIEW_LENGTH],
                    "theirs_preview": (file.theirs or "")[:PREVIEW_LENGTH],
                    "resolved": file.is_resolved,
                }
                for file in self.files
            ],
        }

    def detail(self, given: str) -> dict[str, Any]:
        """Both sides of one file, their difference, and the result of a merge by section."""
        file = self.find(given)
        path = self.file_path(file)
        diff = difflib.unified_diff(
            (file.ours or "").splitlines(keepends=True),
            (file.theirs or "").splitlines(keepends=True),
            f"{path} (ours)",
            f"{path} (theirs)",
        )
        answer: dict[str, Any] = {
            "file_path": path,
            "ours_content": file.ours or "",
            "theirs_content": file.theirs or "",
            "base_content": file.base or "",
            "diff": "".join(line if line.endswith("\n") else f"{line}\n" for line in diff),
            "messages": list(file.messages),
        }
        if file.path.endswith(".md") and None not in (file.base, file.ours, file.theirs):
            merged = merge_markdown(file.base, file.ours or "", file.theirs or "")
            answer["section_analysis"] = {
                "has_section_conflicts": bool(merged.conflicts),
                "conflict_details": list(merged.conflicts),
                "auto_merged_content": None if merged.conflicts else merged.text,
            }
        return answer


def pending_files(conflicts: Sequence[FileConflict]) -> tuple[PendingFile, ...]:
    return tuple(
        PendingFile(
            each.path, _text(each.ours), _text(each.theirs), _text(each.base), each.messages
        )
        for each in conflicts
    )


def read_pending(folder: KnowledgeFolder) -> PendingMerge | None:
    """The merge that waits; None if there is none. Raises KnowledgeRefused if it is damaged."""
    text = folder.read(PENDING_CONFLICTS)
    if text is None:
        return None
    try:
        stored = json.loads(text)
        files = tuple(
            PendingFile(**{**file, "messages": tuple(file["messages"])}) for file in stored["files"]
        )
        return PendingMerge(
            **{**stored, "files": files, "auto_resolved": tuple(stored["auto_resolved"])}
        )
    except (ValueError, TypeError, KeyError):
        raise KnowledgeRefused(
            f"{FOLDER_NAME}/{PENDING_CONFLICTS} cannot be read. Delete it and pull again."
        ) from None


def write_pending(folder: KnowledgeFolder, pending: PendingMerge) -> None:
    folder.write(PENDING_CONFLICTS, dump_json(asdict(pending)))


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
