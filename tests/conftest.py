"""Fixtures that every room's tests may ask for."""

from tests.qdrant_server import qdrant_program, qdrant_url

__all__ = ["qdrant_program", "qdrant_url"]
