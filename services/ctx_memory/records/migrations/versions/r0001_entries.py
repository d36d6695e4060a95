"""Creates one table for entries of every kind, tables for tags and images, and the outbox.

The first SQLite databases had no revision: `entries` of memories alone, and an outbox that pointed
to them. These tables are renamed, copied and dropped.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from ctx_memory.records.entry import moment

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.String(27)
COPIED_AT_A_TIME = 1000


def upgrade() -> None:
    is_old = sa.inspect(op.get_bind()).has_table("entries")
    if is_old:
        _rename()
    _create()
    if is_old:
        _copy()
        op.drop_table("outbox_before")
        op.drop_table("entries_before")


def _json() -> sa.types.TypeEngine[Any]:
    return sa.JSON().with_variant(JSONB(), "postgresql")


def _create() -> None:
    op.create_table(
        "entries",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uuid", sa.String(36), nullable=False, unique=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("collection", sa.String(128), nullable=False),
        sa.Column("thread", sa.String(256)),
        sa.Column("source", sa.String(32)),
        sa.Column("content_type", sa.String(16), nullable=False, server_default="text"),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("metadata", _json(), nullable=False),
        sa.Column("importance", sa.Float),
        sa.Column("scope", sa.String(64)),
        sa.Column("summary", sa.Text, nullable=False, server_default=""),
        sa.Column("summary_by", sa.String(128)),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("entries_by_collection", "entries", ["kind", "collection"])
    op.create_index("entries_by_thread", "entries", ["kind", "thread", "id"])
    op.create_index("entries_by_time", "entries", ["kind", "created_at"])
    op.create_table("entry_tags", _entry_id(), sa.Column("tag", sa.String(256), primary_key=True))
    op.create_index("entry_tags_by_tag", "entry_tags", ["tag", "entry_id"])
    op.create_table(
        "entry_images",
        _entry_id(),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("mime_type", sa.String(128), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("metadata", _json()),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("collection", sa.String(128), nullable=False),
        sa.Column("claimed_by", sa.String(36)),
        sa.Column("claimed_until", MOMENT),
        sa.Column("problem", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_uuid", "outbox", ["uuid"])


def _entry_id() -> sa.Column[int]:
    owner = sa.ForeignKey("entries.id", ondelete="CASCADE")
    return sa.Column("entry_id", sa.Integer, owner, primary_key=True)


# --- the first tables ----------------------------------------------------------------------


def _rename() -> None:
    """Rename the first tables, after dropping their indexes: SQLite has one name space for all."""
    op.drop_index("entries_by_collection", "entries")
    op.drop_index("ix_outbox_entry_id", "outbox")
    op.rename_table("outbox", "outbox_before")
    op.rename_table("entries", "entries_before")


def _copy() -> None:
    connection = op.get_bind()
    before = sa.table(
        "entries_before",
        *map(sa.column, ("id", "uuid", "kind", "collection", "text", "content_hash")),
        *map(sa.column, ("created_at", "updated_at")),
        sa.column("metadata", sa.JSON),
    )
    now = sa.table("entries", *(sa.column(each.name, each.type) for each in before.columns))
    tags = sa.table("entry_tags", sa.column("entry_id"), sa.column("tag"))
    rows = connection.execute(sa.select(before).order_by(before.c.id)).mappings().all()
    for part in _slices(rows):
        connection.execute(sa.insert(now), [_entry(row) for row in part])
        tagged = [
            {"entry_id": row["id"], "tag": tag} for row in part for tag in _tags(row["metadata"])
        ]
        if tagged:
            connection.execute(sa.insert(tags), tagged)
    connection.execute(
        sa.text(
            "INSERT INTO outbox (uuid, kind, collection) SELECT uuid, kind, collection "
            "FROM outbox_before JOIN entries_before ON entries_before.id = outbox_before.entry_id "
            "ORDER BY outbox_before.id"
        )
    )


def _slices(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    remaining = iter(rows)
    while part := list(islice(remaining, COPIED_AT_A_TIME)):
        yield part


def _entry(row: Any) -> dict[str, Any]:
    """Return the row with times of one length; the first tables had as many digits as needed."""
    times = {
        name: moment(datetime.fromisoformat(row[name])) for name in ("created_at", "updated_at")
    }
    return {**row, **times}


def _tags(metadata: dict[str, Any]) -> list[str]:
    """Return tags as filters compare them; the metadata keeps them as they were written."""
    found = (tag.strip().casefold() for tag in metadata.get("tags", ()))
    return list(dict.fromkeys(tag for tag in found if tag))
