"""Gives collections their names back where `aliases.json` was lost or is older than they are."""

import logging
from collections.abc import Mapping
from pathlib import Path

from ctx_core.vectors.edge.aliases import write_aliases
from ctx_core.vectors.edge.collection import SPEC_FILE
from ctx_core.vectors.generations import logical_name

log = logging.getLogger(__name__)

UNNAMED_FOLDER = "unnamed"  # beside the collections: what had lost its name and was not the largest


def with_lost_names(folder: Path, home: Path, aliases: Mapping[str, str]) -> dict[str, str]:
    """Return the aliases of collections that exist, with those found for collections without one.

    A name whose collection is missing gets the largest one that was built for it; the others, which
    may be unfinished, are moved out of the way. Nothing is deleted.
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
