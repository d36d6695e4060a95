import pytest

from ctx_core.errors import InvalidInput
from ctx_indexer.search.globs import match_globs

PATHS = ["a.py", "src/a.py", "src/db/pool.py", "src/db/test_pool.py", "docs/a.md", "src/db.ts"]


@pytest.mark.parametrize(
    ("included", "expected"),
    [
        (["*.py"], {"a.py", "src/a.py", "src/db/pool.py", "src/db/test_pool.py"}),
        (["src/*.py"], {"src/a.py"}),
        (["**/db/**/*.py"], {"src/db/pool.py", "src/db/test_pool.py"}),
        (["src/**"], {"src/a.py", "src/db/pool.py", "src/db/test_pool.py", "src/db.ts"}),
        (["src/db"], {"src/db/pool.py", "src/db/test_pool.py"}),
        (["docs"], {"docs/a.md"}),
        (["*.{md,ts}"], {"docs/a.md", "src/db.ts"}),
        (["src/[ab].py"], {"src/a.py"}),
        (["?.py"], {"a.py", "src/a.py"}),
        (["./a.py"], {"a.py", "src/a.py"}),
        (["docs/a.md", "src/db.ts"], {"docs/a.md", "src/db.ts"}),
        (["nothing/**"], set()),
    ],
)
def test_patterns(included: list[str], expected: set[str]) -> None:
    assert set(match_globs(PATHS, included, [])) == expected


def test_excluded_patterns_win() -> None:
    found = match_globs(PATHS, ["src/**"], ["**/test_*.py", "*.ts"])
    assert found == ["src/a.py", "src/db/pool.py"]


@pytest.mark.parametrize("pattern", ["", "  ", "x" * 501, "[b-a]"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        match_globs(PATHS, [pattern], [])
