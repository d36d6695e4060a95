"""Which indexed files of a repo the filters of a question admit."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from ctx_core.errors import InvalidInput
from ctx_indexer.manifest.rows import ManifestRow
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.globs import match_globs
from ctx_indexer.source.walk import is_under


def selected_paths(rows: Mapping[str, ManifestRow], filters: SearchFilters, repo: str) -> list[str]:
    """Return the paths of a repo that the filters admit, in order. Raises InvalidInput."""
    languages = {name.lower() for name in filters.languages}
    endings = {ending.lower().lstrip(".") for ending in filters.exts}
    folders = [_folder(each) for each in filters.under]
    if filters.folders:
        folders = [folder for name, folder in filters.folders if name == repo]
        if not folders:
            return []
    paths = [
        path
        for path, row in rows.items()
        if (not languages or row.language in languages)
        and (not endings or PurePosixPath(path).suffix.lower().lstrip(".") in endings)
        and (not folders or any(is_under(path, each) or path == each for each in folders))
    ]
    if filters.path_globs or filters.not_globs:
        folder = dict(filters.shown_folders).get(repo, "")
        paths = match_globs(paths, filters.path_globs, filters.not_globs, folder)
    return sorted(paths)


def _folder(given: str) -> str:
    cleaned = given.strip().replace("\\", "/").strip("/").removeprefix("./")
    if ".." in cleaned.split("/"):
        raise InvalidInput("under", "must not contain '..'")
    return "" if cleaned == "." else cleaned
