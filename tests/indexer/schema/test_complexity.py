import pytest

from ctx_indexer.schema.complexity import complexity


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("format(x)\niface = 1\nforest()\n" * 9, "low"),
        ("if a:\n  for b in c:\n    while d: pass\n", "medium"),
        ("  } catch (e) {\n" * 10, "high"),
    ],
)
def test_lines_that_branch_are_counted(text: str, word: str) -> None:
    assert complexity(text) == word
