"""The history of the tables: one file a revision, run by `migrate.py`."""
