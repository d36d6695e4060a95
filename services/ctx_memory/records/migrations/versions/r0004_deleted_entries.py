"""A table for the uuids of deleted entries."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "deleted_entries",
        sa.Column("uuid", sa.String(36), primary_key=True),
        sa.Column("deleted_at", sa.String(27), nullable=False),
    )
