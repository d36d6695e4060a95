"""Temporary git repositories."""

from scripts.bench.fixtures.repositories import Repository

__all__ = ["Repository", "function"]


def function(name: str, body: str = "return value") -> str:
    return f"def {name}(value):\n    {body}\n"
