"""The git repository around a project, as far as knowledge needs to know it."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from ctx_core.files import replace_file
from ctx_core.git.run import git_line
from ctx_memory.knowledge.folder import FOLDER_NAME

OWN_FOLDER = "context-teleport"  # in git's own folder: nothing there is ever an object or a file


@dataclass(frozen=True)
class Repository:
    """Where a work tree and its git folders lie.

    `git_dir` belongs to one work tree, `common_dir` to all that share the repository.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    prefix: str  # the knowledge folder as paths in git's trees have it


def find_repository(root: Path) -> Repository | None:
    """The repository that a project lies in; None if there is none that git accepts. Blocks."""
    printed = git_line(
        root, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"
    )
    lines = (printed or "").splitlines()
    if len(lines) != 3:
        return None
    top, git_dir = Path(lines[0]), Path(lines[1])
    common = Path(os.path.normpath(root / lines[2]))
    if not root.is_relative_to(top):  # a configuration that names another work tree
        return None
    prefix = (root.relative_to(top) / FOLDER_NAME).as_posix()
    return Repository(top, git_dir, common, prefix)


def project_id(root: Path, repository: Repository | None, *, create: bool) -> str | None:
    """Name a project for rows outside its folder; None if it has no name yet. Blocks.

    All work trees of a repository share it, and it moves with the repository.
    """
    if repository is None:
        return str(root)
    note = repository.common_dir / OWN_FOLDER / "id"
    try:
        return note.read_text(encoding="utf-8").strip()
    except OSError:
        if not create:
            return None
    note.parent.mkdir(parents=True, exist_ok=True)
    draft = note.with_name(f"id.{uuid4().hex}")
    replace_file(draft, f"{uuid4()}\n")
    with contextlib.suppress(FileExistsError):  # another work tree was first
        os.link(draft, note)
    draft.unlink()
    return note.read_text(encoding="utf-8").strip()
