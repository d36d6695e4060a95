"""Accounts and what they hold."""

import decimal
from collections.abc import Iterator

from bank.ledger import Ledger as Book
from bank.ledger import record

LIMIT = decimal.Decimal("1000")


class Account:
    """Money that belongs to someone."""

    currency = "EUR"

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.book = Book(owner)

    # Only what is there can be taken.
    @record
    def withdraw(self, amount: int) -> int:
        """Take money out."""
        return self.book.subtract(amount)


async def accounts(names: list[str]) -> Iterator[Account]:
    def build(name: str) -> Account:
        return Account(name)

    return map(build, names)
