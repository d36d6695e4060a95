"""Excluded paths: `.gitignore` and `.ctxignore` rules, and folders of tools."""

from collections.abc import Iterable
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

CTXIGNORE = ".ctxignore"
GITIGNORE = ".gitignore"

# Folders that tools put beside the code: excluded unless git tracks their files.
TOOL_FOLDERS = frozenset(
    (
        ".git .hg .svn .jj .bzr node_modules bower_components .venv venv .virtualenv __pycache__ "
        ".mypy_cache .pytest_cache .ruff_cache .hypothesis .tox .nox .eggs .ipynb_checkpoints "
        ".gradle .idea .vs .terraform .next .nuxt .svelte-kit .parcel-cache .turbo .cache "
        ".dart_tool .bundle .stack-work .cabal-sandbox .elixir_ls .serverless .aws-sam .DS_Store "
        "site-packages DerivedData __MACOSX"
    ).split()
)
# A folder that holds one of these files belongs to a tool, whatever its name.
TOOL_FOLDER_MARKERS = frozenset(["pyvenv.cfg", "CACHEDIR.TAG"])


def in_tool_folder(path: str) -> bool:
    """Whether a file lies in a folder that is excluded by default."""
    return not TOOL_FOLDERS.isdisjoint(path.split("/")[:-1])


@dataclass(frozen=True)
class IgnoreRules:
    """The patterns of ignore files: each file rules its folder, and the deepest match wins."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()  # folder ("" or "a/b/"), shallowest first

    def with_file(self, folder: str, lines: Iterable[str]) -> "IgnoreRules":
        """Add the patterns of one more file; call it for shallower folders first."""
        spec = GitIgnoreSpec.from_lines(_valid(lines))
        return IgnoreRules((*self.specs, (folder, spec)))

    def excludes(self, path: str) -> bool:
        """Whether a path is excluded; the path of a folder ends with a slash."""
        for folder, spec in reversed(self.specs):
            if path.startswith(folder):
                verdict = spec.check_file(_utf8(path[len(folder) :])).include
                if verdict is not None:
                    return verdict
        return False


def _utf8(path: str) -> str:
    """Replace the bytes of a name that are not UTF-8: the matcher may refuse them."""
    return path if path.isascii() else path.encode("utf-8", "replace").decode("utf-8")


def _valid(lines: Iterable[str]) -> list[str]:
    """Drop invalid patterns: one bad line must not disable the others."""
    valid = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        valid.append(line)
    return valid
