"""Which collection of the embedded store stands behind which name: one small file."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from services.core.errors import StorageFailed

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
    half = folder / f"{ALIASES_FILE}.half"
    with half.open("w", encoding="utf-8") as file:
        json.dump(dict(aliases), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    half.replace(folder / ALIASES_FILE)
    if os.name == "posix":  # elsewhere a folder cannot be opened, and needs not be
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
