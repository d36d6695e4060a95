"""The aliases of the embedded store: one small file, collection name → physical collection."""

import json
from collections.abc import Mapping
from pathlib import Path

from ctx_core.errors import StorageFailed
from ctx_core.files import replace_file

ALIASES_FILE = "aliases.json"


def read_aliases(folder: Path) -> dict[str, str]:
    """Read the aliases; a name without one is its own physical collection.

    Raises StorageFailed for a file that is damaged.
    """
    file = folder / ALIASES_FILE
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): str(physical) for name, physical in body.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise StorageFailed(
            f"{file} cannot be read: {error}; it says which collection each name means: restore it "
            "from a backup, or delete the vectors folder and build it again"
        ) from error


def write_aliases(folder: Path, aliases: Mapping[str, str]) -> None:
    """Replace all aliases atomically; they are on the disk when it returns. Raises OSError."""
    replace_file(folder / ALIASES_FILE, json.dumps(dict(aliases), indent=2))
