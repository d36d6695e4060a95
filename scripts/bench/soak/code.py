"""Calls of an indexer, and edits of the files that it follows."""

from collections.abc import Mapping
from pathlib import Path

from scripts.bench.soak.caller import Caller, Kind
from scripts.bench.soak.entries import new_words

FILES = 40
NAMES = 97
QUESTIONS = 500  # distinct ones: caches of words are full soon
EDITED = 12
COLLECTION = "no-such-collection"


def module(number: int, version: int) -> str:
    """Return a file of code that calls another's functions."""
    names = [(number * 7 + step * 13 + version) % NAMES for step in range(4)]
    functions = "\n\n".join(
        f'def name_{name}(value):\n    """Retry the call of {name} in version {version}."""\n'
        f"    return name_{(name + 1) % NAMES}(value) + {version}\n"
        for name in names
    )
    return f"import m{(number + 1) % FILES}\n\n\n{functions}"


def make_project(folder: Path) -> None:
    """Write the files that are searched."""
    for number in range(FILES):
        (folder / f"m{number}.py").write_text(module(number, 0))


class Code:
    """The calls, in rounds."""

    def __init__(self, caller: Caller, project: Path) -> None:
        self._call = caller.call
        self._project = project

    async def searches(self, number: int) -> None:
        await self._call("repo_search", query=f"retry the call of name {number % QUESTIONS}")

    async def new_words(self, number: int) -> None:
        await self._call("repo_search", query=new_words(number))

    async def exact_searches(self, number: int) -> None:
        await self._call("exact_search", pattern=f"name_{number % NAMES}")
        await self._call("exact_search", pattern=rf"name_{number}\b|Retry.*{number}", regex=True)

    async def reads(self, number: int) -> None:
        path = f"m{number % FILES}.py"
        await self._call("read_code", path=path, start_line=1, end_line=number % 20 + 1)
        await self._call("read_code", path=f"unknown-{number}.py")

    async def callers(self, number: int) -> None:
        await self._call("search_callers_for", query=f"name_{number % NAMES}")
        await self._call("search_callers_for", query=f"unknown_{number}")

    async def answers(self, number: int) -> None:
        await self._call(
            "context_answer", query=f"how is the call of name {number % QUESTIONS} retried"
        )

    async def commits(self, number: int) -> None:
        await self._call("search_commits_for", query=f"begin {number % QUESTIONS}")

    async def unknown_collections(self, number: int) -> None:
        await self._call("repo_search", query="retry", collection=f"{COLLECTION}-{number}")
        await self._call("search_callers_for", query="retry", collection=f"{COLLECTION}-{number}")
        await self._call("search_commits_for", query="retry", collection=f"{COLLECTION}-{number}")

    async def edits(self, number: int) -> None:
        """Save a file or delete it, and search: the follower brings the index up to date."""
        file = self._project / f"m{number % EDITED}.py"
        if number % 5:
            file.write_text(module(number % EDITED, number % QUESTIONS))
        else:
            file.unlink(missing_ok=True)
        await self._call("repo_search", query=f"retry in version {number % QUESTIONS}")

    async def index_runs(self, number: int) -> None:
        file = self._project / f"m{number % EDITED}.py"
        file.write_text(module(number % EDITED, number % QUESTIONS))
        await self._call("qdrant_index")


def code_kinds(caller: Caller, project: Path) -> Mapping[str, Kind]:
    """Return the kinds of load by name."""
    kinds = Code(caller, project)
    return {
        "searches": kinds.searches,
        "searches of new words": kinds.new_words,
        "exact searches": kinds.exact_searches,
        "reads": kinds.reads,
        "callers": kinds.callers,
        "answers": kinds.answers,
        "commits": kinds.commits,
        "unknown collections": kinds.unknown_collections,
        "edits": kinds.edits,
        "index runs": kinds.index_runs,
    }
