"""Fixtures that every room's tests may ask for."""

from tests.postgres import postgres_server, postgres_url
from tests.qdrant_server import qdrant_program, qdrant_url

__all__ = ["postgres_server", "postgres_url", "qdrant_program", "qdrant_url"]
