"""Which collection of the embedded store stands behind which name: one small file."""

import json
from collections.abc import Mapping
from pathlib import Path

from services.core.errors import StorageFailed
from services.core.files import replace_file

ALIASES_FILE = "aliases.json"


def read(folder: Path) -> dict[str, str]:
    """Name → what stands behind it; a name that is missing stands for itself."""
    file = folder / ALIASES_FILE
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): str(physical) for name, physical in body.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise StorageFailed(
            f"{file} cannot be read: {error}; it says which collection stands behind each name: "
            "restore it from a backup, or delete the vectors folder and build it again"
        ) from error


def write(folder: Path, aliases: Mapping[str, str]) -> None:
    """At one moment, and on the disk when this returns: what stood behind a name may then go."""
    replace_file(folder / ALIASES_FILE, json.dumps(dict(aliases), indent=2))
