"""Full text in SQLite: FTS5 over the entries' texts, which stay where they are.

Ranking is what costs, about a microsecond or two for a match. So of all that match and that the
criteria admit, the newest RANKED_AT_MOST are ranked. Where any word will do, those are taken from
the entries with the rarest words, which are the ones that ranking would prefer.
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
    null,
    select,
    table,
    text,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.text.highlight import CLOSE, OPEN
from services.memory.records.filters import where
from services.memory.records.fulltext.query import STEMMED, Either, Node, Not, Words
from services.memory.records.tables import entries
from services.memory.records.types import Criteria

INDEX = "entries_text"
RANKED_AT_MOST = 1000
COUNTED_AT_MOST = 10_000  # a word in so many entries says little; it is counted no further
SNIPPET_WORDS = 40  # FTS5 shows 64 at most
GAP = " … "
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

# An expression that finds the rarest of the words, as many as RANKED_AT_MOST entries have (or else
# the very rarest), and weighs every word that is not too common.
RARE_WORDS = f"""
WITH words AS MATERIALIZED (
    SELECT value AS phrase, (
        SELECT count(*)
        FROM (SELECT 1 FROM {INDEX} WHERE {INDEX} MATCH value LIMIT {COUNTED_AT_MOST})
    ) AS found
    FROM json_each(:phrases)
), placed AS (
    SELECT phrase, found, row_number() OVER by_rarity = 1
        OR sum(found) OVER by_rarity <= {RANKED_AT_MOST} AS is_rare
    FROM words WHERE found > 0 WINDOW by_rarity AS (ORDER BY found, phrase)
), lists AS (
    SELECT group_concat(phrase, ' OR ') FILTER (WHERE is_rare) AS rare,
        group_concat(phrase, ' OR ') FILTER (WHERE is_rare OR found < {COUNTED_AT_MOST}) AS telling
    FROM placed
)
SELECT CASE
    WHEN rare IS NULL THEN '""'
    WHEN rare = telling THEN rare
    ELSE '(' || rare || ') AND (' || telling || ')'
END AS expression FROM lists
"""

_index = table(INDEX, column("rowid", Integer), column(INDEX, Text))
_match = _index.c[INDEX].op("MATCH", is_comparison=True)


class _Admitted(NamedTuple):
    """The entries that the criteria admit, and whether they are few and quickly listed."""

    condition: ColumnElement[bool]
    narrow: bool


# --- the index -----------------------------------------------------------------------------


async def ensure_index(connection: AsyncConnection, language: str) -> None:
    """Create the index and what keeps it in step; anew where the language or anything changed."""
    wanted = _definitions(language)
    query = text("SELECT name, sql FROM sqlite_master WHERE name LIKE :ours ESCAPE '!'")
    rows = await connection.execute(query, {"ours": f"{INDEX.replace('_', '!_')}%"})
    found = {row.name: row.sql for row in rows}
    if all(found.get(name) == sql for name, sql in wanted.items()):
        return
    for name in TRIGGERS:
        await connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
    await connection.exec_driver_sql(f"DROP TABLE IF EXISTS {INDEX}")
    for sql in wanted.values():
        await connection.exec_driver_sql(sql)
    await connection.exec_driver_sql(f"INSERT INTO {INDEX} ({INDEX}) VALUES ('rebuild')")


def _definitions(language: str) -> dict[str, str]:
    """The statements, as SQLite keeps them."""
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
    narrow: bool,
    limit: int,
    offset: int,
    highlight: bool,
) -> Select[Any]:
    """The entries' columns, `score` and `highlighted`, the best first.

    `narrow` says that indexes find the few entries that the criteria admit.
    """
    admitted = _Admitted(where(criteria, "sqlite"), narrow)
    expression, is_negated = written(node)
    if is_negated:
        ranked = _without(expression, admitted)
    elif isinstance(node, Either) and all(isinstance(part, Words) for part in node.parts):
        ranked = _by_rare_words(node.parts, admitted, limit + offset)
    else:
        ranked = _newest(literal(expression), admitted, literal(RANKED_AT_MOST)).cte("ranked")
    best = select(ranked).order_by(ranked.c.score.desc(), ranked.c.id.desc())
    page = best.limit(limit).offset(offset).cte("page")
    snippet = _snippet(expression, page) if highlight and not is_negated else null()
    return (
        select(entries, page.c.score, snippet.label("highlighted"))
        .join(page, page.c.id == entries.c.id)
        .order_by(page.c.score.desc(), page.c.id.desc())
    )


def written(node: Node) -> tuple[str, bool]:
    """The tree in FTS5's language, and whether the opposite of that is meant.

    There NOT stands between two expressions and never before one, so what is meant as an opposite
    is carried outwards until something stands before it, or to the very end.
    """
    match node:
        case Words(words, prefix):
            return '"' + words.replace('"', '""') + '"' + ("*" if prefix else ""), False
        case Not(part):
            inner, is_negated = written(part)
            return inner, not is_negated
    parts = [written(part) for part in node.parts]
    plain = [expression for expression, is_negated in parts if not is_negated]
    negated = [expression for expression, is_negated in parts if is_negated]
    if isinstance(node, Either):
        return (_but(_all(negated), _either(plain)), True) if negated else (_either(plain), False)
    return (_but(_all(plain), _either(negated)), False) if plain else (_either(negated), True)


def _all(parts: Sequence[str]) -> str:
    return f"({' AND '.join(parts)})"


def _either(parts: Sequence[str]) -> str:
    return f"({' OR '.join(parts)})" if parts else ""


def _but(found: str, left_out: str) -> str:
    return f"({found} NOT {left_out})" if left_out else found


def _newest(
    expression: ColumnElement[str], admitted: _Admitted, most: ColumnElement[int]
) -> Select[Any]:
    """The newest matches among what is admitted, with their scores.

    Few admitted entries are listed first and compared with each match; otherwise each match is
    looked up, the newest first, until there are enough.
    """
    score = (-func.bm25(_index.c[INDEX])).label("score")
    query = select(_index.c.rowid.label("id"), score).where(_match(expression))
    if admitted.narrow:
        # The sign keeps FTS5 from being asked anew for every id.
        row = literal_column(f"+{INDEX}.rowid", Integer)
        query = query.where(row.in_(select(entries.c.id).where(admitted.condition)))
    else:
        query = query.join(entries, entries.c.id == _index.c.rowid).where(admitted.condition)
    return query.order_by(_index.c.rowid.desc()).limit(most)


def _by_rare_words(words: Sequence[Node], admitted: _Admitted, needed: int) -> CTE:
    """The entries with the rarest words, filled up with the newest that have any word."""
    phrases = [written(word)[0] for word in words]
    rare = text(RARE_WORDS).bindparams(phrases=json.dumps(phrases)).columns(expression=Text)
    chosen = _newest(rare.scalar_subquery(), admitted, literal(RANKED_AT_MOST)).cte("chosen")
    most = min(needed, RANKED_AT_MOST)
    missing = func.max(0, most - select(func.count()).select_from(chosen).scalar_subquery())
    newest = _newest(literal(_either(phrases)), admitted, missing).cte("newest")
    both = union_all(select(chosen), select(newest)).subquery()
    return (
        select(both.c.id, func.max(both.c.score).label("score")).group_by(both.c.id).cte("ranked")
    )


def _without(expression: str, admitted: _Admitted) -> CTE:
    """The newest entries that do not match: none is better than another."""
    matching = select(_index.c.rowid).where(_match(expression))
    return (
        select(entries.c.id, literal(0.0, Float).label("score"))
        .where(admitted.condition, entries.c.id.not_in(matching))
        .order_by(entries.c.id.desc())
        .limit(RANKED_AT_MOST)
        .cte("ranked")
    )


def _snippet(expression: str, page: CTE) -> ColumnElement[str]:
    shown = func.snippet(_index.c[INDEX], 0, OPEN, CLOSE, GAP, SNIPPET_WORDS)
    found = select(shown).where(_match(expression), _index.c.rowid == page.c.id)
    return found.correlate(page).scalar_subquery()
