"""Full-text search over the entries' texts: what is the same on both databases.

Scores are higher for better hits, and compare within one answer only.
"""

import difflib
import logging
from collections.abc import Sequence
from typing import Any, get_args

from sqlalchemy import Select, false, literal, null, select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.errors import SettingsInvalid
from services.core.settings.memory import DEFAULT_INDEXED_FIELDS, Language
from services.memory.records.filters.indexes import (
    is_served,
    parse_fields,
)
from services.memory.records.fulltext import postgresql, sqlite
from services.memory.records.fulltext.query import STEMMED, read
from services.memory.records.tables import entries
from services.memory.records.types import Criteria, TextMode

log = logging.getLogger(__name__)

SIMPLE = "simple"  # words as they are written
LANGUAGES: tuple[str, ...] = get_args(Language)


async def ensure_full_text(connection: AsyncConnection, dialect: str, language: str) -> None:
    """Bring the index to the language: created where it is missing, filled anew where it differs.

    For a transaction that only one process at a time is in, such as the one that migrates.
    """
    if language not in LANGUAGES:
        near = difflib.get_close_matches(language, LANGUAGES, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise SettingsInvalid(f"FTS_LANGUAGE={language}: {hint}Allowed: {', '.join(LANGUAGES)}")
    if dialect == "postgresql":
        await postgresql.ensure_index(connection, language)
        return
    if language not in (STEMMED, SIMPLE):
        log.warning("SQLite stems English only: %s words are compared as written", language)
    await sqlite.ensure_index(connection, language)


def full_text_query(
    query: str,
    mode: TextMode,
    criteria: Criteria,
    dialect: str,
    language: str,
    limit: int,
    offset: int,
    highlight: bool,
    any_word: bool,
    indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS,
) -> tuple[Select[Any], list[str]]:
    """A query for the entries' columns, `score` and `highlighted`, the best first; and warnings.

    All words must be found, or with `any_word` one of them. `indexed_fields` are those that
    `index_metadata` was given.
    """
    node, warnings = read(query, mode, language, any_word)
    if node is None:
        nothing = select(entries, literal(0.0).label("score"), null().label("highlighted"))
        return nothing.where(false()), warnings
    if dialect == "postgresql":
        found = postgresql.search(node, criteria, language, limit, offset, highlight)
    else:
        narrow = _is_narrow(criteria, indexed_fields)
        found = sqlite.search(node, criteria, narrow, limit, offset, highlight)
    return found, warnings


def _is_narrow(criteria: Criteria, indexed_fields: Sequence[str]) -> bool:
    """Whether an index finds what the criteria admit."""
    fields = parse_fields(indexed_fields)
    by_field = any(is_served(each, fields) for each in criteria.metadata)
    return bool(criteria.ids or criteria.threads or criteria.tags or by_field)
