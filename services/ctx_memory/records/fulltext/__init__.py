"""Full-text search over the entries' texts: the part that both databases share.

A higher score is better; scores compare within one result only.
"""

import difflib
import logging
from collections.abc import Sequence
from typing import Any, get_args

from sqlalchemy import Select, false, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.errors import SettingsInvalid
from ctx_core.settings.memory import DEFAULT_INDEXED_FIELDS, Language
from ctx_memory.records.filters.indexes import (
    is_served,
    parse_fields,
)
from ctx_memory.records.fulltext import postgresql, sqlite
from ctx_memory.records.fulltext.highlight import Highlighter
from ctx_memory.records.fulltext.query import SIMPLE, STEMMED, parse
from ctx_memory.records.tables import entries
from ctx_memory.records.types import Criteria, TextMode

log = logging.getLogger(__name__)

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
    any_word: bool,
    indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS,
) -> tuple[Select[Any], list[str]]:
    """Return a statement for the entries' columns and `score`, and warnings.

    All words must occur, or one of them with `any_word`. `indexed_fields` are the metadata fields
    that have an index.
    """
    node, warnings = parse(query, mode, language, any_word)
    if node is None:
        return select(entries, literal(0.0).label("score")).where(false()), warnings
    if dialect == "postgresql":
        config = postgresql.configuration(language, mode)
        statement = postgresql.search(node, criteria, config, limit, offset)
    else:
        selective = _is_selective(criteria, indexed_fields)
        statement = sqlite.search(node, criteria, selective, limit, offset)
    return statement, warnings


def highlighter(
    query: str, mode: TextMode, dialect: str, language: str, any_word: bool
) -> Highlighter | None:
    """Return what marks the words of a query in texts; None where it has no words."""
    node, _ = parse(query, mode, language, any_word)
    # SQLite stems English only.
    stemmed = language if dialect == "postgresql" or language == STEMMED else SIMPLE
    return None if node is None else Highlighter(node, stemmed)


def _is_selective(criteria: Criteria, indexed_fields: Sequence[str]) -> bool:
    """Whether an index finds the entries that meet the criteria."""
    fields = parse_fields(indexed_fields)
    by_field = any(is_served(each, fields) for each in criteria.metadata)
    return bool(criteria.ids or criteria.threads or criteria.tags or by_field)
