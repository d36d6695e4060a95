"""Fixtures that every room's tests may ask for."""

from hypothesis import settings

from tests.support.postgres import postgres_server, postgres_url
from tests.support.qdrant import qdrant_program, qdrant_url

# The same cases every time, however slow the machine: a commit passes or it does not. Now and then
# look for new ones: --hypothesis-profile=exploring
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("exploring", deadline=None)
settings.load_profile("steady")

__all__ = ["postgres_server", "postgres_url", "qdrant_program", "qdrant_url"]
