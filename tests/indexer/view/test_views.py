"""The view of a call: which collection, repos, checkouts and hidden versions it is about."""

from dataclasses import replace
from pathlib import Path

import pytest

from ctx_core.access.access import during
from ctx_core.access.grant import Grant, Limits, Scope
from ctx_core.errors import InvalidInput, NotPermitted
from ctx_core.serving.sessions import SessionDefaults
from ctx_indexer.view.view import View
from ctx_indexer.view.views import ViewArguments, ViewDefaults, Views
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function

READS_OPEN = Grant(Scope.READ, Limits(frozenset(), frozenset({"open"})))


def views(bench: Bench, **defaults: object) -> Views:
    known = ViewDefaults(bench.collection)
    return Views(bench.indexer.checkouts, SessionDefaults(), replace(known, **defaults))  # type: ignore[arg-type]


async def made(bench: Bench, top: Path, name: str) -> Path:
    repository = Repository.create(top / name)
    repository.write("src/a.py", function(name))
    repository.commit()
    await bench.index(repository.root, repo=name)
    return repository.root


async def test_a_named_folder_chooses_the_checkout(bench: Bench, tmp_path: Path) -> None:
    root = await made(bench, tmp_path, "shop")
    tree = tmp_path / "tree"
    Repository(root).git("worktree", "add", "-q", str(tree))
    (tree / "src/a.py").write_text(function("changed"))
    await bench.index(tree, repo="shop")
    resolver = views(bench, workspace=root)
    own = await resolver.resolve(ViewArguments())
    assert dict(own.roots) == {"shop": root}
    for asked in (
        ViewArguments(under=(f"{tree}/src",)),
        ViewArguments(places=(f"{tree}/src/a.py",)),
        ViewArguments(workspace=str(tree), under=("src",)),
    ):
        other = await resolver.resolve(asked)
        assert dict(other.roots) == {"shop": tree}
        assert set(other.hidden).isdisjoint(own.hidden)
        assert own.hidden
        assert other.hidden
    with pytest.raises(InvalidInput, match="two checkouts of shop"):
        await resolver.resolve(ViewArguments(under=(str(root), str(tree))))


async def test_repos_are_those_given_else_the_caller_s(bench: Bench, tmp_path: Path) -> None:
    for name in ("shop", "other"):
        await made(bench, tmp_path, name)

    async def repos(given: ViewArguments, **defaults: object) -> tuple[str, ...]:
        return (await views(bench, **defaults).resolve(given)).repos

    here = tmp_path / "shop"
    assert await repos(ViewArguments()) == ()
    assert await repos(ViewArguments(repos=("other",)), repo="shop") == ("other",)
    assert await repos(ViewArguments(), repo="shop") == ("shop",)
    assert await repos(ViewArguments(), workspace=here, only_workspace=True) == ("shop",)
    elsewhere = ViewArguments(workspace=str(tmp_path / "other"))
    assert await repos(elsewhere, workspace=here, only_workspace=True) == ("*",)


async def test_a_limited_call_sees_only_the_repos_that_it_reaches(
    bench: Bench, tmp_path: Path
) -> None:
    for name in ("open", "closed"):
        await made(bench, tmp_path, name)
    with during(READS_OPEN):
        seen: View = await views(bench, repo="closed").resolve(ViewArguments())
    assert list(seen.roots) == ["open"]
    assert seen.repos == ()
    with (
        during(Grant(Scope.READ, Limits(frozenset({"team"}), frozenset()))),
        pytest.raises(NotPermitted),
    ):
        await views(bench).resolve(ViewArguments())
