"""Plans are pure: files and rows in, what to do out."""

from ctx_indexer.indexing.plan import Plan, make_plan
from ctx_indexer.indexing.verify import Mismatch
from ctx_indexer.languages.registry import LANGUAGES
from ctx_indexer.manifest.rows import FileVersion, ManifestRow, VersionRow
from ctx_indexer.manifest.tables import DONE, WRITING
from ctx_indexer.schema.points import INDEX_VERSION, index_version
from ctx_indexer.source.walk import SourceFile

VERSION = index_version("python")


def file(
    path: str,
    blob: str = "a",
    size: int = 1,
    modified: float = 1.0,
    language: str = "python",
) -> SourceFile:
    return SourceFile(path, size, blob, modified, language)


def row(
    path: str,
    blob: str = "a",
    *,
    status: str = DONE,
    index_version: int = VERSION,
    modified: float = 1.0,
) -> ManifestRow:
    return ManifestRow(path, blob, 1, modified, 1, "python", index_version, status)


def plan(
    files: list[SourceFile],
    *rows: ManifestRow,
    others: tuple[ManifestRow, ...] = (),
    mismatch: Mismatch = Mismatch(),  # noqa: B008 - frozen
    under: str = "",
) -> Plan:
    """Plan for a checkout with rows, while other checkouts have others."""
    versions = {
        FileVersion(each.path, each.blob): VersionRow(
            each.path, each.blob, each.chunks, each.language, each.index_version, each.status
        )
        for each in (*rows, *others)
    }
    own = {each.path: each for each in rows}
    return make_plan(files, own, versions, mismatch=mismatch, under=under)


def paths(files: tuple[SourceFile, ...]) -> list[str]:
    return [each.path for each in files]


def test_added_changed_removed_unchanged() -> None:
    made = plan(
        [file("new"), file("same"), file("other", blob="b")],
        row("same"),
        row("other"),
        row("gone"),
    )
    assert made.added == {"new"}
    assert made.changed == 1
    assert made.removed == ("gone",)
    assert paths(made.unchanged) == ["same"]
    assert made.touched == made.shared == ()
    assert made.replaced == frozenset()  # the older version goes by its own name
    assert paths(made.writes) == ["new", "other"]


def test_what_another_checkout_has_is_shared() -> None:
    made = plan(
        [file("a"), file("b", blob="theirs"), file("c")],
        row("b"),
        others=(row("a"), row("b", "theirs"), row("c", "theirs")),
    )
    assert paths(made.shared) == ["a", "b"]
    assert paths(made.writes) == ["c"]
    assert made.added == {"a", "c"}
    assert made.changed == 1


def test_what_another_checkout_has_not_finished_is_written() -> None:
    made = plan([file("a")], others=(row("a", status=WRITING),))
    assert paths(made.writes) == ["a"]
    assert made.replaced == {"a"}


def test_an_unfinished_file_is_written_again() -> None:
    made = plan([file("a")], row("a", status=WRITING))
    assert (paths(made.writes), made.changed) == (["a"], 1)
    assert made.replaced == {"a"}


def test_a_file_of_another_index_version_is_written_again() -> None:
    made = plan([file("a")], row("a", index_version=VERSION - 1))
    assert (paths(made.writes), made.changed) == (["a"], 1)
    assert made.replaced == {"a"}


def test_a_file_whose_language_has_a_new_revision_is_written_again() -> None:
    revised = next(each for each in LANGUAGES.values() if each.revision)
    assert index_version(revised.name) != VERSION == INDEX_VERSION
    made = plan([file("a", language=revised.name), file("b")], row("a"), row("b"))
    assert (paths(made.writes), paths(made.unchanged)) == (["a"], ["b"])


def test_a_touched_file_is_unchanged_but_recorded_again() -> None:
    made = plan([file("a", modified=2.0)], row("a"))
    assert paths(made.unchanged) == ["a"]
    assert paths(made.touched) == ["a"]
    assert made.writes == ()


def test_lost_versions_are_written_again_and_orphans_removed() -> None:
    lost = frozenset([FileVersion("a", "a"), FileVersion("a", "theirs")])
    made = plan(
        [file("a"), file("b")],
        row("a"),
        row("c"),
        mismatch=Mismatch(lost, frozenset(["b", "stray"])),
    )
    assert paths(made.writes) == ["a", "b"]
    assert made.added == {"b"}
    assert made.replaced == {"a", "b"}  # b has no row, but points stand there
    assert made.removed == ("c", "stray")


def test_only_files_in_the_folder_are_removed() -> None:
    before = row("src/a"), row("src2/b"), row("src/deep/c"), row("top")
    assert plan([], *before, under="src").removed == ("src/a", "src/deep/c")
