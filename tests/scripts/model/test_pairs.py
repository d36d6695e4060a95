"""What the code model learns from."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.model.duplicates import distinct, keys
from scripts.model.pairs import Pair, package_pairs

POOL = '''
class ConnectionPool:
    """Keeps connections open and lends them out."""

    def acquire_connection(self, timeout):
        """Lend the connection that was idle the longest."""
        while not self.idle:
            self.returned.wait(timeout)
        connection = self.idle.popleft()
        connection.lent_at = self.clock()
        return connection

    def release_connection(self, connection):
        """Take a connection back and wake who waits for one."""
        connection.lent_at = None
        self.idle.append(connection)
        self.returned.notify()
'''


@pytest.fixture
def pairs(tmp_path: Path) -> list[Pair]:
    (tmp_path / "pool.py").write_text(POOL)
    return package_pairs(tmp_path, "seed")


def test_what_asks_is_not_in_what_answers(pairs: list[Pair]) -> None:
    documented = [pair for pair in pairs if pair.kind == "doc"]
    assert {pair.question for pair in documented} > {
        "Lend the connection that was idle the longest"
    }
    assert not any(pair.question in pair.code for pair in documented)
    [named] = [pair for pair in pairs if pair.kind == "name"]
    assert named.question == "connection pool"
    assert "ConnectionPool" not in named.code


def test_the_same_package_gives_the_same_pairs(pairs: list[Pair], tmp_path: Path) -> None:
    assert package_pairs(tmp_path, "seed") == pairs


def test_a_copy_in_another_package_is_dropped(pairs: list[Pair]) -> None:
    copies = [replace(pair, code=f"  // vendored 2024\n{pair.code}") for pair in pairs]
    assert distinct([pairs, copies]) == [pairs, []]
    assert distinct([copies, pairs]) == [copies, []]


def test_the_pairs_of_one_chunk_stay(pairs: list[Pair]) -> None:
    again = [replace(pair, question=f"{pair.question} again") for pair in pairs]
    assert distinct([[*pairs, *again]]) == [[*pairs, *again]]


def test_numbers_marks_and_layout_make_no_difference() -> None:
    code = POOL.replace("timeout", "timeout, 30").replace("    ", "\t")
    assert keys(code) == keys(POOL)
    assert set(keys(POOL)).isdisjoint(keys(POOL[::-1]))
    assert keys("") == keys("42")
