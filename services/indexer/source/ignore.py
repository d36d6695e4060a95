"""Which paths are left out: `.gitignore` and `.ctxignore` files, and folders nobody wants."""

from collections.abc import Iterable
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

CTXIGNORE = ".ctxignore"
GITIGNORE = ".gitignore"

# Left out where git does not track them: what tools put beside the code.
UNWANTED_FOLDERS = frozenset(
    (
        ".git .hg .svn .jj .bzr node_modules bower_components .venv venv .virtualenv __pycache__ "
        ".mypy_cache .pytest_cache .ruff_cache .hypothesis .tox .nox .eggs .ipynb_checkpoints "
        ".gradle .idea .vs .terraform .next .nuxt .svelte-kit .parcel-cache .turbo .cache "
        ".dart_tool .bundle .stack-work .cabal-sandbox .elixir_ls .serverless .aws-sam .DS_Store "
        "site-packages DerivedData __MACOSX"
    ).split()
)
# A folder with one of these files is a tool's, whatever its name.
FOLDER_MARKS = frozenset(["pyvenv.cfg", "CACHEDIR.TAG"])


def is_unwanted(path: str) -> bool:
    """Whether a path lies in a folder that is left out by default."""
    return not UNWANTED_FOLDERS.isdisjoint(path.split("/")[:-1])


@dataclass(frozen=True)
class Ignore:
    """The rules of ignore files; each binds the folder it lies in, and the deepest one decides."""

    rules: tuple[tuple[str, GitIgnoreSpec], ...] = ()  # folder ("" or "a/b/"), shallowest first

    def plus(self, folder: str, lines: Iterable[str]) -> "Ignore":
        """With the rules of one more file; deeper folders are added after shallower ones."""
        spec = GitIgnoreSpec.from_lines(_readable(lines))
        return Ignore((*self.rules, (folder, spec)))

    def excludes(self, path: str) -> bool:
        """Whether a path is left out; a folder's path ends with a slash."""
        for folder, spec in reversed(self.rules):
            if path.startswith(folder):
                verdict = spec.check_file(path[len(folder) :]).include
                if verdict is not None:
                    return verdict
        return False


def _readable(lines: Iterable[str]) -> list[str]:
    """Without the lines that are no pattern: one bad line must not void the others."""
    kept = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        kept.append(line)
    return kept
