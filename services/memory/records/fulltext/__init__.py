"""Full-text search over the entries' texts: the part that both databases share.

A higher score is better; scores compare within one result only.
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
from services.memory.records.fulltext.query import STEMMED, parse
from services.memory.records.tables import entries
from services.memory.records.types import Criteria, TextMode

log = logging.getLogger(__name__)

SIMPLE = "simple"  # words are compared without stemming
LANGUAGES: tuple[str, ...] = get_args(Language)


async def ensure_full_text(connection: AsyncConnection, dialect: str, language: str) -> None:
    """Create the index, or fill it again where it was made for another language.

    Raises SettingsInvalid for an unknown language. Call it in a transaction that one process at a
    time runs, such as the migration's.
    """
    if language not in LANGUAGES:
        close = difflib.get_close_matches(language, LANGUAGES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
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
    """Return a statement for the entries' columns, `score` and `highlighted`, and warnings.

    All words must occur, or one of them with `any_word`. `indexed_fields` are the metadata fields
    that have an index.
    """
    node, warnings = parse(query, mode, language, any_word)
    if node is None:
        nothing = select(entries, literal(0.0).label("score"), null().label("highlighted"))
        return nothing.where(false()), warnings
    if dialect == "postgresql":
        statement = postgresql.search(node, criteria, language, limit, offset, highlight)
    else:
        selective = _is_selective(criteria, indexed_fields)
        statement = sqlite.search(node, criteria, selective, limit, offset, highlight)
    return statement, warnings


def _is_selective(criteria: Criteria, indexed_fields: Sequence[str]) -> bool:
    """Whether an index finds the entries that meet the criteria."""
    fields = parse_fields(indexed_fields)
    by_field = any(is_served(each, fields) for each in criteria.metadata)
    return bool(criteria.ids or criteria.threads or criteria.tags or by_field)
