"""The full-text index of a database: the part that both databases share.

A higher score is better; scores compare within one result only.
"""

import difflib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import Select, false, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.errors import SettingsInvalid
from ctx_core.settings.memory import DEFAULT_INDEXED_FIELDS, Language
from ctx_memory.records.database import Dialect
from ctx_memory.records.entry import Criteria
from ctx_memory.records.filters.indexes import is_served, parse_fields
from ctx_memory.records.fulltext import postgresql, sqlite
from ctx_memory.records.fulltext.highlight import Highlighter
from ctx_memory.records.fulltext.query import SIMPLE, STEMMED, TextQuery, parse
from ctx_memory.records.tables import entries

log = logging.getLogger(__name__)

LANGUAGES: tuple[str, ...] = get_args(Language)


@dataclass(frozen=True)
class TextIndex:
    """The index of the entries' texts, stemmed for one language.

    `indexed_fields` are the metadata fields that have an index of their own.
    """

    dialect: Dialect
    language: str = STEMMED
    indexed_fields: Sequence[str] = DEFAULT_INDEXED_FIELDS

    async def ensure(self, connection: AsyncConnection) -> None:
        """Create the index, or fill it again where it was made for another language.

        Raises SettingsInvalid for an unknown language. Call it in a transaction that one process
        at a time runs, such as the migration's.
        """
        language = self.language
        if language not in LANGUAGES:
            close = difflib.get_close_matches(language, LANGUAGES, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise SettingsInvalid(f"FTS_LANGUAGE={language}: {hint}Allowed: {', '.join(LANGUAGES)}")
        if self.dialect == "postgresql":
            await postgresql.ensure_index(connection, language)
            return
        if language not in (STEMMED, SIMPLE):
            log.warning("SQLite stems English only: %s words are compared as written", language)
        await sqlite.ensure_index(connection, language)

    def statement(
        self, query: TextQuery, criteria: Criteria, limit: int, offset: int = 0
    ) -> tuple[Select[Any], list[str]]:
        """Return a statement for the entries' columns and `score`, and warnings about the query."""
        node, warnings = parse(query.text, query.mode, self.language, query.any_word)
        if node is None:
            return select(entries, literal(0.0).label("score")).where(false()), warnings
        if self.dialect == "postgresql":
            config = postgresql.configuration(self.language, query.mode)
            return postgresql.search(node, criteria, config, limit, offset), warnings
        return sqlite.search(node, criteria, self._selects(criteria), limit, offset), warnings

    def highlighter(self, query: TextQuery) -> Highlighter | None:
        """Return a marker of the query's words in texts; None where the query has no words."""
        node, _ = parse(query.text, query.mode, self.language, query.any_word)
        # SQLite stems English only.
        is_stemmed = self.dialect == "postgresql" or self.language == STEMMED
        return None if node is None else Highlighter(node, self.language if is_stemmed else SIMPLE)

    def _selects(self, criteria: Criteria) -> bool:
        """Whether an index finds the few entries that meet the criteria."""
        fields = parse_fields(self.indexed_fields)
        by_field = any(is_served(each, fields) for each in criteria.metadata)
        return bool(criteria.ids or criteria.threads or criteria.tags or by_field)
