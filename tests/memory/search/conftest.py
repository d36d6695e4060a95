"""Threads over real parts, for the tests of this room."""

from tests.support.threads import opened, parts, settings, threads

__all__ = ["opened", "parts", "settings", "threads"]
