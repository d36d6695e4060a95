"""Threads over real parts, for the tests of this room."""

from tests.support.threads import engine, opened, settings, threads

__all__ = ["engine", "opened", "settings", "threads"]
