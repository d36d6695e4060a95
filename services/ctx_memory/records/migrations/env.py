"""Runs the revisions for Alembic, on the connection and in the transaction that it is given."""

from alembic import context

options = context.config.attributes
context.configure(connection=options["connection"], version_table=options["version_table"])
with context.begin_transaction():
    context.run_migrations()
