"""The aliases of the embedded store: one small file, collection name → physical collection."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from ctx_core.errors import StorageFailed
from ctx_core.files import replace_file
from ctx_core.vectors.edge.spec_file import SPEC_FILE
from ctx_core.vectors.generations import logical_name

log = logging.getLogger(__name__)

ALIASES_FILE = "aliases.json"
UNNAMED_FOLDER = "unnamed"  # beside the collections: the smaller ones of a lost name


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


def with_lost_names(folder: Path, home: Path, aliases: Mapping[str, str]) -> dict[str, str]:
    """Return the aliases of collections that exist, and find lost ones.

    Where `aliases.json` was lost or is older than the collections, a name whose collection is
    missing gets the largest one that was built for it. The others, which may be unfinished, are
    moved to UNNAMED_FOLDER; nothing is deleted.
    """
    present = {each.name: each for each in home.iterdir() if (each / SPEC_FILE).exists()}
    known = {name: physical for name, physical in aliases.items() if physical in present}
    found: dict[str, str] = {}
    for name in sorted({logical_name(physical) for physical in present}):
        if known.get(name, name) in present:
            continue
        built = sorted(
            (each for physical, each in present.items() if logical_name(physical) == name),
            key=_used_bytes,
        )
        found[name] = built[-1].name
        log.error("collection %s had lost its name: it is %s again", name, built[-1].name)
        for other in built[:-1]:
            _move(other, folder / UNNAMED_FOLDER)
    if found:
        write_aliases(folder, known | found)
    return known | found


def _used_bytes(folder: Path) -> int:
    """Count the bytes that the files of a folder take: most of them are sparse."""
    return sum(path.stat().st_blocks for path in folder.rglob("*") if path.is_file())


def _move(folder: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    folder.rename(target / folder.name)
    log.error("%s was also built for that name: it is kept in %s", folder.name, target)
