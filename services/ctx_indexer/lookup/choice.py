"""Chooses the checkout of each repo that a question is about: one, of those that are indexed."""

from collections.abc import Sequence
from pathlib import Path

from ctx_core.errors import InvalidInput
from ctx_indexer.manifest.checkouts import Checkout


def choose_checkouts(
    checkouts: Sequence[Checkout], workspace: Path | None, places: Sequence[Path] = ()
) -> list[Checkout]:
    """Choose by the places that a caller names, else by the workspace, else the main checkout.

    `checkouts` has the main one of a repo before the others. Raises InvalidInput for places in
    two checkouts of one repo.
    """
    named: dict[str, Checkout] = {}
    for place in places:
        found = _around(checkouts, place)
        if found is None:
            continue
        if named.setdefault(found.repo, found) != found:
            raise InvalidInput(
                "under",
                f"{named[found.repo].root} and {found.root} are two checkouts of {found.repo}: "
                "search one at a time",
            )
    chosen: dict[str, Checkout] = {}
    for each in sorted(checkouts, key=lambda each: _distance(each.root, workspace)):
        chosen.setdefault(each.repo, named.get(each.repo, each))
    return sorted(chosen.values(), key=lambda each: each.repo)


def _around(checkouts: Sequence[Checkout], place: Path) -> Checkout | None:
    """Return the innermost checkout that holds a place."""
    holding = [each for each in checkouts if place.is_relative_to(each.root)]
    return max(holding, key=lambda each: len(each.root.parts), default=None)


def _distance(root: Path, workspace: Path | None) -> tuple[int, int]:
    """Order roots: the nearest around the workspace, those inside it, those elsewhere."""
    if workspace is None:
        return 0, 0
    if workspace.is_relative_to(root):
        return 0, len(workspace.parts) - len(root.parts)
    return (1, 0) if root.is_relative_to(workspace) else (2, 0)
