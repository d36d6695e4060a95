"""Full-text search in SQLite: an FTS5 index over the entries' texts, without a copy of them.

Ranking costs one or two microseconds per match. So of the matches that meet the criteria, the
newest MAX_RANKED are ranked. A search for any word ranks the entries with its rarest words, which
ranking would prefer.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Float,
    Integer,
    Select,
    Text,
    column,
    func,
    literal,
    literal_column,
    select,
    table,
    text,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.entry import Criteria
from ctx_memory.records.filters import where
from ctx_memory.records.fulltext.query import STEMMED, Either, Node, Not, Words
from ctx_memory.records.tables import entries

INDEX = "entries_text"
MAX_RANKED = 1000
MAX_COUNTED = 10_000  # entries with a word: one that is more frequent hardly distinguishes
TOKENIZER = "unicode61 remove_diacritics 2"
TRIGGERS = {
    f"{INDEX}_added": "AFTER INSERT ON entries BEGIN {add} END",
    f"{INDEX}_removed": "AFTER DELETE ON entries BEGIN {remove} END",
    f"{INDEX}_changed": (
        "AFTER UPDATE OF id, text ON entries WHEN old.text IS NOT new.text OR old.id <> new.id "
        "BEGIN {remove} {add} END"
    ),
}
ADD = f"INSERT INTO {INDEX} (rowid, text) VALUES (new.id, new.text);"
REMOVE = f"INSERT INTO {INDEX} ({INDEX}, rowid, text) VALUES ('delete', old.id, old.text);"

# An FTS5 expression that matches the rarest words, up to MAX_RANKED entries in all (at least the
# rarest word), and scores by every word that is not too common.
RARE_WORDS = f"""
WITH words AS MATERIALIZED (
    SELECT value AS phrase, (
        SELECT count(*)
        FROM (SELECT 1 FROM {INDEX} WHERE {INDEX} MATCH value LIMIT {MAX_COUNTED})
    ) AS frequency
    FROM json_each(:phrases)
), by_frequency AS (
    SELECT phrase, frequency, row_number() OVER by_rarity = 1
        OR sum(frequency) OVER by_rarity <= {MAX_RANKED} AS is_rare
    FROM words WHERE frequency > 0 WINDOW by_rarity AS (ORDER BY frequency, phrase)
), lists AS (
    SELECT group_concat(phrase, ' OR ') FILTER (WHERE is_rare) AS rare,
        group_concat(phrase, ' OR ') FILTER (WHERE is_rare OR frequency < {MAX_COUNTED}) AS scored
    FROM by_frequency
)
SELECT CASE
    WHEN rare IS NULL THEN '""'
    WHEN rare = scored THEN rare
    ELSE '(' || rare || ') AND (' || scored || ')'
END AS expression FROM lists
"""

_index = table(INDEX, column("rowid", Integer), column(INDEX, Text))
_match = _index.c[INDEX].op("MATCH", is_comparison=True)


class _Scope(NamedTuple):
    """The condition of the criteria; `is_selective` where an index finds the few entries in it."""

    condition: ColumnElement[bool]
    is_selective: bool


# --- the index -----------------------------------------------------------------------------


async def ensure_index(connection: AsyncConnection, language: str) -> None:
    """Create the index and its triggers; again where their definitions changed."""
    definitions = _definitions(language)
    query = text("SELECT name, sql FROM sqlite_master WHERE name LIKE :ours ESCAPE '!'")
    rows = await connection.execute(query, {"ours": f"{INDEX.replace('_', '!_')}%"})
    existing = {row.name: row.sql for row in rows}
    if all(existing.get(name) == sql for name, sql in definitions.items()):
        return
    for name in TRIGGERS:
        await connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
    await connection.exec_driver_sql(f"DROP TABLE IF EXISTS {INDEX}")
    for sql in definitions.values():
        await connection.exec_driver_sql(sql)
    await connection.exec_driver_sql(f"INSERT INTO {INDEX} ({INDEX}) VALUES ('rebuild')")


def _definitions(language: str) -> dict[str, str]:
    """Return the CREATE statements by name, letter by letter as SQLite stores them."""
    tokenizer = f"porter {TOKENIZER}" if language == STEMMED else TOKENIZER
    options = f"text, content='entries', content_rowid='id', tokenize='{tokenizer}'"
    triggers = {
        name: f"CREATE TRIGGER {name} {body.format(add=ADD, remove=REMOVE)}"
        for name, body in TRIGGERS.items()
    }
    return {INDEX: f"CREATE VIRTUAL TABLE {INDEX} USING fts5({options})", **triggers}


# --- the query -----------------------------------------------------------------------------


def search(
    node: Node,
    criteria: Criteria,
    selective: bool,
    limit: int,
    offset: int,
) -> Select[Any]:
    """Return a statement for the entries' columns and `score`, the best first.

    `selective` says that an index finds the few entries that meet the criteria.
    """
    scope = _Scope(where(criteria, "sqlite"), selective)
    expression, is_negated = to_fts5(node)
    if is_negated:
        ranked = _not_matching(expression, scope)
    elif isinstance(node, Either) and all(isinstance(part, Words) for part in node.parts):
        ranked = _by_rare_words(node.parts, scope, limit + offset)
    else:
        ranked = _newest(literal(expression), scope, literal(MAX_RANKED)).cte("ranked")
    best = select(ranked).order_by(ranked.c.score.desc(), ranked.c.id.desc())
    page = best.limit(limit).offset(offset).cte("page")
    return (
        select(entries, page.c.score)
        .join(page, page.c.id == entries.c.id)
        .order_by(page.c.score.desc(), page.c.id.desc())
    )


def to_fts5(node: Node) -> tuple[str, bool]:
    """Return the tree as an FTS5 expression, and whether its negation is meant.

    In FTS5 NOT is a binary operator, so a negation moves outwards until an expression precedes it,
    or to the root.
    """
    match node:
        case Words(words, prefix):
            return '"' + words.replace('"', '""') + '"' + ("*" if prefix else ""), False
        case Not(part):
            inner, is_negated = to_fts5(part)
            return inner, not is_negated
    parts = [to_fts5(part) for part in node.parts]
    plain = [expression for expression, is_negated in parts if not is_negated]
    negated = [expression for expression, is_negated in parts if is_negated]
    if isinstance(node, Either):
        return (
            (_except(_all(negated), _either(plain)), True) if negated else (_either(plain), False)
        )
    return (_except(_all(plain), _either(negated)), False) if plain else (_either(negated), True)


def _all(parts: Sequence[str]) -> str:
    return f"({' AND '.join(parts)})"


def _either(parts: Sequence[str]) -> str:
    return f"({' OR '.join(parts)})" if parts else ""


def _except(matched: str, excluded: str) -> str:
    return f"({matched} NOT {excluded})" if excluded else matched


def _newest(
    expression: ColumnElement[str], scope: _Scope, limit: ColumnElement[int]
) -> Select[Any]:
    """Select the newest matches in the scope, with their scores.

    A selective scope is listed first and compared with each match; otherwise each match is looked
    up, the newest first, until there are enough.
    """
    score = (-func.bm25(_index.c[INDEX])).label("score")
    query = select(_index.c.rowid.label("id"), score).where(_match(expression))
    if scope.is_selective:
        # With the sign SQLite does not run an FTS5 query per id.
        row = literal_column(f"+{INDEX}.rowid", Integer)
        query = query.where(row.in_(select(entries.c.id).where(scope.condition)))
    else:
        query = query.join(entries, entries.c.id == _index.c.rowid).where(scope.condition)
    return query.order_by(_index.c.rowid.desc()).limit(limit)


def _by_rare_words(words: Sequence[Node], scope: _Scope, needed: int) -> CTE:
    """Select the entries with the rarest words, filled up with the newest that have any word."""
    phrases = [to_fts5(word)[0] for word in words]
    rare = text(RARE_WORDS).bindparams(phrases=json.dumps(phrases)).columns(expression=Text)
    chosen = _newest(rare.scalar_subquery(), scope, literal(MAX_RANKED)).cte("chosen")
    needed = min(needed, MAX_RANKED)
    missing = func.max(0, needed - select(func.count()).select_from(chosen).scalar_subquery())
    newest = _newest(literal(_either(phrases)), scope, missing).cte("newest")
    both = union_all(select(chosen), select(newest)).subquery()
    return (
        select(both.c.id, func.max(both.c.score).label("score")).group_by(both.c.id).cte("ranked")
    )


def _not_matching(expression: str, scope: _Scope) -> CTE:
    """Select the newest entries that do not match, all with the same score."""
    matching = select(_index.c.rowid).where(_match(expression))
    return (
        select(entries.c.id, literal(0.0, Float).label("score"))
        .where(scope.condition, entries.c.id.not_in(matching))
        .order_by(entries.c.id.desc())
        .limit(MAX_RANKED)
        .cte("ranked")
    )
