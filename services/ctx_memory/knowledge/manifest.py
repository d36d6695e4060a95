"""The manifest of a knowledge folder; writing the first one makes the folder."""

from typing import Any
from uuid import uuid4

from ctx_core.clock import utc_now
from ctx_core.errors import KnowledgeRefused
from ctx_memory.knowledge.documents import dump_json, parse_object
from ctx_memory.knowledge.folder import FOLDER_NAME
from ctx_memory.knowledge.project import Project

MANIFEST = "manifest.json"
SCHEMA_VERSION = "0.4.0"
IGNORE = ".gitignore"
PENDING_CONFLICTS = ".pending_conflicts.json"
ACTIVE_STATE = "state/active.json"
USER_PREFERENCES = "preferences/user.json"
# Files that belong to one machine; they are never committed.
LOCAL_FILES = (ACTIVE_STATE, USER_PREFERENCES, PENDING_CONFLICTS)


def read_manifest(project: Project) -> dict[str, Any]:
    """The manifest; before the first write the one that would be made, without an id. Blocks."""
    found = parse_object(project.folder.read(MANIFEST))
    return found or _manifest(project.name, "")


def ensure_manifest(project: Project, *, auto_init: bool) -> None:
    """Make the folder if there is none; raises KnowledgeRefused if it must not be made. Blocks."""
    if project.folder.read_bytes(MANIFEST) is not None:
        return
    if not auto_init and not project.folder.exists:
        raise KnowledgeRefused(
            f"RuntimeError: {project.name} has no context store, and CTX_NO_AUTO_INIT forbids to "
            f"create one. Unset it, or create the folder {FOLDER_NAME}."
        )
    project.folder.write(MANIFEST, dump_json(_manifest(project.name, str(uuid4()))))
    if project.folder.read_bytes(IGNORE) is None:
        project.folder.write(IGNORE, "".join(f"{name}\n" for name in LOCAL_FILES))


def now() -> str:
    """The time as these files write it."""
    return utc_now().isoformat(timespec="seconds")


def _manifest(name: str, identity: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "project": {"name": name, "id": identity, "repo_url": ""},
        "adapters": {},
        "team": {"members": []},
        "created_at": now(),
        "updated_at": now(),
    }
