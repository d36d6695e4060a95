"""Symbol tables: they depend on their file alone, and come back from the store as they were."""

import pytest

from ctx_indexer.syntax.outline import outline
from ctx_indexer.syntax.symbols.table import SymbolTable, decode_table

CALLS = "\n".join(
    f"def f{n}(self):\n    g{n}(self.a{n}, key=f{n})\n    return self.b.c{n}" for n in range(60)
)
SAMPLES = [("python", CALLS), ("python", ""), ("go", "package p\nfunc f() { g(1).h() }\n")]


def _table(language: str, text: str) -> SymbolTable:
    table = outline(text, language, with_symbols=True).symbols
    assert table is not None
    return table


@pytest.mark.parametrize(("language", "text"), SAMPLES)
def test_a_table_is_the_same_every_time(language: str, text: str) -> None:
    assert len({_table(language, text).encode() for _ in range(5)}) == 1
    lines = [call.line for call in _table(language, text).calls]
    assert lines == sorted(lines)


@pytest.mark.parametrize(("language", "text"), SAMPLES)
def test_a_stored_table_is_the_one_that_was_read(language: str, text: str) -> None:
    table = _table(language, text)
    stored = decode_table(table.encode())
    assert [each[:6] for each in stored.scopes] == [each[:6] for each in table.scopes]
    assert list(stored.bindings) == list(table.bindings)
    assert [list(call) for call in stored.calls] == [
        [*call[:3], call.arguments or ()] for call in table.calls
    ]
    assert list(stored.calls[:2]) == list(stored.calls)[:2]
    assert (stored.called(), stored.given()) == (table.called(), table.given())
    assert (list(stored.reads), list(stored.mentions)) == (list(table.reads), list(table.mentions))


def test_the_size_of_a_table_counts_all_of_its_rows() -> None:
    table = _table("python", "import a\nx = a.b\ndef f(): return g()\n")
    kinds = (table.scopes, table.bindings, table.imports, table.results, table.calls, table.reads)
    assert [len(each) for each in kinds] == [2, 1, 1, 1, 1, 1]
    assert table.size == 7 + len(table.mentions)
