"""Plans are pure: files and rows in, what to do out."""

from services.indexer.indexing.manifest import DONE, WRITING, ManifestRow
from services.indexer.indexing.plan import make_plan
from services.indexer.source.walk import SourceFile

INDEX_VERSION = 7


def file(path: str, blob: str = "a", size: int = 1, modified: float = 1.0) -> SourceFile:
    return SourceFile(path, size, blob, modified, "python", False, False, False, False, False)


def row(
    path: str,
    blob: str = "a",
    *,
    status: str = DONE,
    scheme: int = INDEX_VERSION,
    modified: float = 1.0,
) -> ManifestRow:
    return ManifestRow(path, blob, 1, modified, 1, "python", scheme, status)


def rows(*each: ManifestRow) -> dict[str, ManifestRow]:
    return {one.path: one for one in each}


def paths(files: tuple[SourceFile, ...]) -> list[str]:
    return [each.path for each in files]


def test_added_changed_removed_unchanged() -> None:
    found = [file("new"), file("same"), file("other", blob="b")]
    plan = make_plan(found, rows(row("same"), row("other"), row("gone")), scheme=INDEX_VERSION)
    assert paths(plan.added) == ["new"]
    assert paths(plan.changed) == ["other"]
    assert plan.removed == ("gone",)
    assert paths(plan.unchanged) == ["same"]
    assert plan.touched == ()
    assert plan.replacing == {"other"}
    assert paths(plan.writes) == ["new", "other"]


def test_an_unfinished_file_is_written_again() -> None:
    plan = make_plan([file("a")], rows(row("a", status=WRITING)), scheme=INDEX_VERSION)
    assert paths(plan.changed) == ["a"]
    assert plan.replacing == {"a"}


def test_another_scheme_is_written_again() -> None:
    plan = make_plan([file("a")], rows(row("a", scheme=INDEX_VERSION - 1)), scheme=INDEX_VERSION)
    assert paths(plan.changed) == ["a"]


def test_a_touched_file_is_unchanged_but_remembered_anew() -> None:
    plan = make_plan([file("a", modified=2.0)], rows(row("a")), scheme=INDEX_VERSION)
    assert paths(plan.unchanged) == ["a"]
    assert paths(plan.touched) == ["a"]
    assert plan.writes == ()


def test_doubtful_paths_are_written_again_or_removed() -> None:
    plan = make_plan(
        [file("a"), file("b")],
        rows(row("a"), row("c")),
        scheme=INDEX_VERSION,
        doubtful={"a", "b", "stray"},
    )
    assert paths(plan.changed) == ["a"]
    assert paths(plan.added) == ["b"]
    assert plan.replacing == {"a", "b"}  # b has no row, but points stand there
    assert plan.removed == ("c", "stray")


def test_only_what_lies_under_the_subdir_is_removed() -> None:
    before = rows(row("src/a"), row("src2/b"), row("src/deep/c"), row("top"))
    plan = make_plan([], before, scheme=INDEX_VERSION, subdir="src")
    assert plan.removed == ("src/a", "src/deep/c")
