"""Plans are pure: files and rows in, what to do out."""

from services.indexer.indexing.manifest import DONE, WRITING, ManifestRow
from services.indexer.indexing.plan import make_plan
from services.indexer.source.walk import SourceFile

VERSION = 7


def file(path: str, blob: str = "a", size: int = 1, modified: float = 1.0) -> SourceFile:
    return SourceFile(path, size, blob, modified, "python")


def row(
    path: str,
    blob: str = "a",
    *,
    status: str = DONE,
    index_version: int = VERSION,
    modified: float = 1.0,
) -> ManifestRow:
    return ManifestRow(path, blob, 1, modified, 1, "python", index_version, status)


def rows(*each: ManifestRow) -> dict[str, ManifestRow]:
    return {one.path: one for one in each}


def paths(files: tuple[SourceFile, ...]) -> list[str]:
    return [each.path for each in files]


def test_added_changed_removed_unchanged() -> None:
    found = [file("new"), file("same"), file("other", blob="b")]
    plan = make_plan(found, rows(row("same"), row("other"), row("gone")), index_version=VERSION)
    assert paths(plan.added) == ["new"]
    assert paths(plan.changed) == ["other"]
    assert plan.removed == ("gone",)
    assert paths(plan.unchanged) == ["same"]
    assert plan.touched == ()
    assert plan.replaced == {"other"}
    assert paths(plan.writes) == ["new", "other"]


def test_an_unfinished_file_is_written_again() -> None:
    plan = make_plan([file("a")], rows(row("a", status=WRITING)), index_version=VERSION)
    assert paths(plan.changed) == ["a"]
    assert plan.replaced == {"a"}


def test_a_file_of_another_index_version_is_written_again() -> None:
    plan = make_plan([file("a")], rows(row("a", index_version=VERSION - 1)), index_version=VERSION)
    assert paths(plan.changed) == ["a"]


def test_a_touched_file_is_unchanged_but_recorded_again() -> None:
    plan = make_plan([file("a", modified=2.0)], rows(row("a")), index_version=VERSION)
    assert paths(plan.unchanged) == ["a"]
    assert paths(plan.touched) == ["a"]
    assert plan.writes == ()


def test_stale_paths_are_written_again_or_removed() -> None:
    plan = make_plan(
        [file("a"), file("b")],
        rows(row("a"), row("c")),
        index_version=VERSION,
        stale={"a", "b", "stray"},
    )
    assert paths(plan.changed) == ["a"]
    assert paths(plan.added) == ["b"]
    assert plan.replaced == {"a", "b"}  # b has no row, but points stand there
    assert plan.removed == ("c", "stray")


def test_only_files_in_the_folder_are_removed() -> None:
    before = rows(row("src/a"), row("src2/b"), row("src/deep/c"), row("top"))
    plan = make_plan([], before, index_version=VERSION, under="src")
    assert plan.removed == ("src/a", "src/deep/c")
