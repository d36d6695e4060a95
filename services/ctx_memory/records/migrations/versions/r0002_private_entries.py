"""A table for a project's private knowledge."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "private_entries",
        sa.Column("project", sa.String(512), primary_key=True),
        sa.Column("type", sa.String(32), primary_key=True),
        sa.Column("key", sa.String(256), primary_key=True),
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("author", sa.String(256), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("events", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("updated_at", sa.String(27), nullable=False),
    )
