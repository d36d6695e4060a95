"""The history of a repository: incremental, bounded, safe with hostile repositories."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import GitFailed
from ctx_core.git.run import run_git
from ctx_core.settings import Settings
from ctx_indexer.history.commits import commits_of, read_commits, recent_ids
from ctx_indexer.history.history import History
from ctx_indexer.history.points import history_filter
from ctx_indexer.view.paths import Paths
from ctx_indexer.view.view import View
from tests.support.repositories import Repository, function

pytestmark = pytest.mark.asyncio(loop_scope="module")

COLLECTION = "code-history"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("history"))
    async with open_engine(settings, settings.code_model) as opened:
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "repo")
    made.write("pool.py", function("acquire"))
    made.commit("Add a pool of connections")
    made.write("pool.py", function("acquire", "return wait(value)"))
    made.commit("Wait for a free connection\n\nClients failed under load, see #12.")
    made.write("readme.md", "# Pool\n")
    made.commit("Describe the pool")
    return made


def view(roots: dict[str, Path]) -> View:
    return View("code", paths=Paths(roots))


async def subjects(history: History, repo: Repository, query: str, name: str) -> list[str]:
    found = await history.search(view({name: repo.root}), query, None, 10)
    assert not found.problems
    return [hit.commit.subject for hit in found.hits]


async def test_commits_are_found_by_words_and_say_why(engine: Engine, repo: Repository) -> None:
    history = History(engine.vectors, engine.embedder)
    found = await history.search(view({"a": repo.root}), "failed under load", None, 3)
    best = found.hits[0]
    assert best.commit.subject == "Wait for a free connection"
    assert best.commit.files == ("pool.py",)
    assert best.commit.symbols == ("acquire",)
    assert best.why[0].startswith("message: failed under load")
    assert found.searched == 3


async def test_symbols_come_from_code_and_not_from_sentences(tmp_path: Path) -> None:
    made = Repository.create(tmp_path / "prose")
    made.write("guide.md", "class notes are here\n\nfunction keys(x) do nothing\n")
    made.write("pool.py", '"""A class of things and the type system."""\n\n\ndef take(n):\n    0\n')
    made.write("pool.c", "static int drain(int n) {\n  int a = 1;\n\n\n\n  return n;\n}\n")
    made.commit("Begin")
    made.write("pool.c", "static int drain(int n) {\n  int a = 1;\n\n\n\n  return a;\n}\n")
    made.commit("Change")
    [[change, begin]] = list(read_commits(made.root, recent_ids(made.root, 5)))
    assert begin.symbols == ("take",)
    assert change.symbols == ("drain",)


async def test_only_commits_of_a_path(engine: Engine, repo: Repository) -> None:
    history = History(engine.vectors, engine.embedder)
    found = await history.search(view({"p": repo.root}), "pool", "readme.md", 10)
    assert [hit.commit.subject for hit in found.hits] == ["Describe the pool"]


async def test_new_amended_and_rebased_commits(engine: Engine, repo: Repository) -> None:
    history = History(engine.vectors, engine.embedder)
    assert len(await subjects(history, repo, "pool", "r")) == 3
    repo.write("pool.py", function("release"))
    repo.commit("Release connections")
    assert "Release connections" in await subjects(history, repo, "release", "r")
    repo.git("commit", "--amend", "-q", "-m", "Give connections back")
    found = await subjects(history, repo, "give connections back", "r")
    assert "Give connections back" in found
    assert "Release connections" not in found
    repo.git("reset", "-q", "--hard", "HEAD~2")
    assert sorted(await subjects(history, repo, "pool", "r")) == [
        "Add a pool of connections",
        "Wait for a free connection",
    ]
    assert await engine.vectors.count(COLLECTION, history_filter(["r"])) == 2


async def test_a_run_that_was_cut_short_is_finished(engine: Engine, repo: Repository) -> None:
    await subjects(History(engine.vectors, engine.embedder, 1), repo, "pool", "c")
    assert await engine.vectors.count(COLLECTION, history_filter(["c"])) == 1
    await subjects(History(engine.vectors, engine.embedder), repo, "pool", "c")
    assert await engine.vectors.count(COLLECTION, history_filter(["c"])) == 3


async def test_the_number_of_commits_is_bounded(engine: Engine, repo: Repository) -> None:
    found = await subjects(History(engine.vectors, engine.embedder, 2), repo, "pool", "b")
    assert "Add a pool of connections" not in found
    assert len(found) == 2


async def test_a_folder_without_git_says_so(engine: Engine, tmp_path: Path) -> None:
    history = History(engine.vectors, engine.embedder)
    found = await history.search(view({"none": tmp_path}), "pool", None, 10)
    assert found.hits == ()
    assert "none: git" in found.problems[0]


async def test_renames_are_followed(repo: Repository) -> None:
    repo.git("mv", "pool.py", "connections.py")
    repo.commit("Rename the pool")
    found = commits_of(repo.root, "connections.py", 10)
    assert [each.path for each in found] == ["connections.py", "pool.py", "pool.py"]
    assert found[-1].subject == "Add a pool of connections"
    assert len(commits_of(repo.root, "connections.py", 2)) == 2


async def test_nothing_that_a_repository_names_is_run(repo: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    repo.write(".gitattributes", "*.py diff=evil\n")
    repo.commit("Attributes")
    repo.git("config", "diff.evil.textconv", f"touch {marker}; cat")
    repo.git("config", "diff.evil.command", f"touch {marker}; true")
    repo.git("config", "diff.external", f"touch {marker}; true")
    [page] = read_commits(repo.root, recent_ids(repo.root, 10))
    assert len(page) == 4
    assert commits_of(repo.root, "pool.py", 5)
    assert not marker.exists()


async def test_names_of_files_are_no_patterns(repo: Repository) -> None:
    repo.write(":(glob)*.py", "x\n")
    repo.git("--literal-pathspecs", "add", ":(glob)*.py")
    repo.git("commit", "-q", "-m", "An odd name")
    found = commits_of(repo.root, ":(glob)*.py", 5)
    assert [each.subject for each in found] == ["An odd name"]


async def test_secrets_in_messages_are_redacted(repo: Repository) -> None:
    secret = "AKIA" + "Q3EGRZX7P2MN4VTK"
    repo.write("a.txt", "x\n")
    repo.commit(f"Key {secret} was leaked")
    [page] = read_commits(repo.root, recent_ids(repo.root, 1))
    assert secret not in page[0].message


async def test_git_prints_no_more_than_it_may(repo: Repository) -> None:
    with pytest.raises(GitFailed, match="more than 10 bytes"):
        run_git(repo.root, "rev-list", "HEAD", max_bytes=10)
    assert len(run_git(repo.root, "rev-list", "HEAD", max_bytes=1_000).split()) == 3
    with pytest.raises(GitFailed, match="failed"):
        run_git(repo.root, "rev-list", "nothing", max_bytes=1_000)
