"""Conversations: their counters, summaries, relations, calls and imports."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MOMENT = sa.String(27)
NAME = sa.String(256)


def upgrade() -> None:
    _conversations()
    _summaries()
    _relations()
    _calls()
    op.create_table(
        "conversation_imports",
        sa.Column("folder", sa.Text, primary_key=True),
        sa.Column("at", MOMENT, nullable=False),
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", NAME, primary_key=True),
        _counter("messages"),
        _counter("important"),
        _counter("fresh_messages"),
        _counter("fresh_tokens"),
        _counter("fresh_important"),
        _counter("summarised_through"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("removed_at", MOMENT),
        sa.Column("removed_for", NAME),
    )
    op.create_index("conversations_by_removal", "conversations", ["removed_at"])


def _counter(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default="0")


def _summaries() -> None:
    details: sa.types.TypeEngine[Any] = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "conversation_summaries",
        sa.Column("level", sa.String(16), primary_key=True),
        sa.Column("id", NAME, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("written_by", sa.String(128), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("details", details, nullable=False),
    )


def _relations() -> None:
    op.create_table(
        "conversation_relations",
        sa.Column("source", NAME, primary_key=True),
        sa.Column("target", NAME, primary_key=True),
        sa.Column("type", sa.String(16), primary_key=True),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("is_automatic", sa.Boolean, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
    op.create_index(
        "conversation_relations_by_target", "conversation_relations", ["target", "type"]
    )


def _calls() -> None:
    op.create_table(
        "conversation_calls",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("type", sa.String(32), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("milliseconds", sa.Float, nullable=False),
    )
    op.create_index("conversation_calls_by_time", "conversation_calls", ["at"])
