"""Full text in PostgreSQL: a tsvector beside every text, kept by the database, under a GIN index.

Ranking reads every vector that it ranks. So of all that match and that the criteria admit, the
newest RANKED_AT_MOST are ranked. Where any word will do, those are the entries that have one of the
rarer words; where no word is rare, the newest that have all words, and the newest that have any.
How rare a word is say the planner's statistics, which PostgreSQL gathers by itself.
"""

import json
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Float,
    FromClause,
    Integer,
    Select,
    Text,
    bindparam,
    cast,
    func,
    literal_column,
    null,
    select,
    text,
    union,
)
from sqlalchemy.dialects.postgresql import REGCONFIG, TSQUERY, TSVECTOR
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.errors import SettingsInvalid
from services.core.text.highlight import CLOSE, OPEN
from services.memory.records.filters import where
from services.memory.records.fulltext.query import All, Either, Node, Not, Words
from services.memory.records.tables import entries
from services.memory.records.types import Criteria

COLUMN, INDEX = "text_vector", "entries_by_text"
RANKED_AT_MOST = 400
SOME = 100  # of the entries that have all words, and of the newest that have any
UNLISTED_SHARE = 0.001  # of the entries, for a word that the statistics do not list
# A vector holds a megabyte at most: a word's bytes, four for a letter if need be, and four more in
# place of the space behind it.
INDEXED_LETTERS = 250_000
# These glue words together in the eyes of PostgreSQL, which reads errors.py as the name of a host.
GLUE = "./-_@:<>&~+=\\|*#'\""
SPACES = " " * len(GLUE)
APART = str.maketrans(GLUE, SPACES)
BY_LENGTH = 1  # divide a rank by the logarithm of the text's length
HEADLINE = (
    f"StartSel={OPEN}, StopSel={CLOSE}, MaxFragments=3, MinWords=6, MaxWords=16, "
    'FragmentDelimiter=" … "'
)
# Of every word its query, its share of the entries, and its weight.
WORDS = f"""
WITH common AS MATERIALIZED (
    SELECT lexeme, share
    FROM pg_stats, unnest(
        CAST(CAST(most_common_elems AS text) AS text[]), most_common_elem_freqs
    ) AS listed (lexeme, share)
    WHERE schemaname = current_schema() AND tablename = 'entries' AND attname = '{COLUMN}'
), queries AS MATERIALIZED (
    SELECT number, to_tsquery(CAST(:language AS regconfig), written) AS query,
        tsvector_to_array(to_tsvector(CAST(:language AS regconfig), written)) AS lexemes
    FROM jsonb_array_elements_text(CAST(:given AS jsonb)) WITH ORDINALITY AS w (written, number)
), shares AS MATERIALIZED (
    SELECT number, query, coalesce(min(share), {UNLISTED_SHARE}) AS share
    FROM queries LEFT JOIN common ON lexeme = ANY (lexemes)
    WHERE numnode(query) > 0 GROUP BY number, query
)
SELECT number, query, share, -ln(share) AS weight FROM shares
"""

Query = ColumnElement[Any]
Condition = ColumnElement[bool]
_vector: ColumnElement[Any] = literal_column(f"entries.{COLUMN}", TSVECTOR)


# --- the index -----------------------------------------------------------------------------


async def ensure_index(connection: AsyncConnection, language: str) -> None:
    """Add the vectors and their index; anew where the language changed, which rewrites the table.

    The column's comment says what the vectors were made by.
    """
    known = await connection.execute(text("SELECT cfgname FROM pg_ts_config"))
    if language not in (names := sorted(known.scalars())):
        raise SettingsInvalid(f"FTS_LANGUAGE={language}: this PostgreSQL knows {', '.join(names)}")
    made_by = f"to_tsvector('{language}', {_separated('left(text, ' + str(INDEXED_LETTERS) + ')')})"
    comment = text(
        "SELECT col_description('entries'::regclass, attnum) FROM pg_attribute "
        "WHERE attrelid = 'entries'::regclass AND attname = :column AND NOT attisdropped"
    )
    if await connection.scalar(comment, {"column": COLUMN}) == made_by:
        return
    quoted = made_by.replace("'", "''")
    for statement in (
        f"ALTER TABLE entries DROP COLUMN IF EXISTS {COLUMN}",
        f"ALTER TABLE entries ADD COLUMN {COLUMN} tsvector GENERATED ALWAYS AS ({made_by}) STORED",
        f"COMMENT ON COLUMN entries.{COLUMN} IS '{quoted}'",
        # Without the list of pending entries, which every search would read to its end.
        f"CREATE INDEX {INDEX} ON entries USING gin ({COLUMN}) WITH (fastupdate = off)",
        f"ANALYZE entries ({COLUMN})",
    ):
        await connection.exec_driver_sql(statement)


def _separated(expression: str) -> str:
    glue = GLUE.replace("'", "''")
    return f"translate({expression}, '{glue}', '{SPACES}')"


# --- the query -----------------------------------------------------------------------------


def search(
    node: Node, criteria: Criteria, language: str, limit: int, offset: int, highlight: bool
) -> Select[Any]:
    """The entries' columns, `score` and `highlighted`, the best first."""
    query = _query(written(node), language)
    admitted = where(criteria, "postgresql")
    if isinstance(node, Either) and all(isinstance(part, Words) for part in node.parts):
        ranked = _by_rare_words(node, admitted, language, limit + offset)
    else:
        newest = _newest(query, admitted, RANKED_AT_MOST)
        rank = func.ts_rank_cd(newest.c.vector, query, BY_LENGTH)
        ranked = select(newest.c.id, rank.label("score")).cte("ranked")
    best = select(ranked).order_by(ranked.c.score.desc(), ranked.c.id.desc())
    page = best.limit(limit).offset(offset).cte("page")
    shown = _headline(query, language) if highlight else null()
    return (
        select(entries, page.c.score, shown.label("highlighted"))
        .join(page, page.c.id == entries.c.id)
        .order_by(page.c.score.desc(), page.c.id.desc())
    )


def written(node: Node) -> str:
    """The tree in the language of to_tsquery, every leaf in quotes."""
    match node:
        case Words(words, prefix):
            return f"'{words.translate(APART)}'" + (":*" if prefix else "")
        case Not(part):
            return f"!({written(part)})"
    operator = " | " if isinstance(node, Either) else " & "
    return f"({operator.join(map(written, node.parts))})"


def _query(expression: str, language: str) -> Query:
    """Escaped into the statement, for the planner must know the words: common and rare ones are
    found by different ways, and a prepared statement would know one."""
    spelled = bindparam(None, expression, type_=Text, literal_execute=True)
    return func.to_tsquery(_config(language), spelled, type_=TSQUERY)


def _config(language: str) -> ColumnElement[Any]:
    """One of LANGUAGES."""
    return literal_column(f"'{language}'::regconfig", REGCONFIG)


def _matches(vector: ColumnElement[Any], query: Query) -> ColumnElement[bool]:
    return vector.op("@@", is_comparison=True)(query)


def _newest(query: Query, admitted: Condition, most: int) -> FromClause:
    """The newest matches among what is admitted, with what ranking reads."""
    return (
        select(entries.c.id, _vector.label("vector"))
        .where(_matches(_vector, query), admitted)
        .order_by(entries.c.id.desc())
        .limit(most)
        .subquery()
    )


def _by_rare_words(node: Either, admitted: Condition, language: str, needed: int) -> CTE:
    """Each word counts as much as it is rare, and a better rank decides among equals."""
    given = text(WORDS).bindparams(
        given=json.dumps([written(part) for part in node.parts]), language=language
    )
    words = given.columns(number=Integer, query=TSQUERY, share=Float, weight=Float).cte("words")
    any_word = _query(written(node), language)
    every_word = _query(written(All(node.parts)), language)
    rare = select(_newest(_rare(words), admitted, RANKED_AT_MOST).c.id).cte("rare")
    count = select(func.count()).select_from(rare).scalar_subquery()
    most = min(max(needed, SOME), RANKED_AT_MOST)
    # Conditions that no row decides: what they rule out is not even begun.
    every = _newest(every_word, admitted, SOME)
    newest = _newest(any_word, admitted, most)
    found = union(
        select(rare),
        select(every.c.id).where(count == 0),
        select(newest.c.id).where(count < most),
    ).subquery()
    # Joining nothing to a vector unpacks it, once for all words.
    unpacked = _vector.op("||")(literal_column("''::tsvector")).label("vector")
    each = (
        select(entries.c.id, unpacked).join(found, found.c.id == entries.c.id).offset(0).subquery()
    )
    said = select(func.sum(words.c.weight)).where(_matches(each.c.vector, words.c.query))
    rank = func.ts_rank(each.c.vector, any_word, BY_LENGTH)
    score = said.correlate(each).scalar_subquery() + rank
    return select(each.c.id, score.label("score")).cte("ranked")


def _rare(words: CTE) -> Query:
    """The rarest words, as many as RANKED_AT_MOST entries have; NULL where there are none."""
    size = text("SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = 'entries'::regclass")
    expected = words.c.share * size.columns(entries=Float).scalar_subquery()
    order = (words.c.share, words.c.number)
    placed = select(words.c.query, func.sum(expected).over(order_by=order).label("together"))
    some = placed.subquery()
    listed = func.string_agg("(" + cast(some.c.query, Text) + ")", " | ")
    return select(cast(listed, TSQUERY)).where(some.c.together <= RANKED_AT_MOST).scalar_subquery()


def _headline(query: Query, language: str) -> ColumnElement[Any]:
    """What was found in its place: in the text, or where words are glued together, in the text
    taken apart."""
    whole = func.left(entries.c.text, INDEXED_LETTERS)
    apart = func.translate(whole, GLUE, SPACES)
    return func.coalesce(*(_marked(each, query, language) for each in (whole, apart)))


def _marked(whole: ColumnElement[Any], query: Query, language: str) -> ColumnElement[Any]:
    headline = func.ts_headline(_config(language), whole, query, HEADLINE).label("headline")
    shown = select(headline).correlate(entries).subquery()
    return select(shown.c.headline).where(func.strpos(shown.c.headline, OPEN) > 0).scalar_subquery()
