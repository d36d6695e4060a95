"""The tables of the manifest, parts of statements, and the move from an earlier version."""

import sqlite3
from collections.abc import Callable

WRITING, DONE, REMOVING = "writing", "done", "removing"

VERSIONS = """
CREATE TABLE IF NOT EXISTS versions (
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    path TEXT NOT NULL,
    blob TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    language TEXT NOT NULL,
    index_version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('writing', 'done', 'removing')),
    PRIMARY KEY (store, collection, repo, path, blob)
) WITHOUT ROWID
"""
UNFINISHED = """
CREATE INDEX IF NOT EXISTS unfinished ON versions (store, collection, repo) WHERE status <> 'done'
"""
CHECKOUTS = """
CREATE TABLE IF NOT EXISTS checkouts (
    id INTEGER PRIMARY KEY,
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    root TEXT NOT NULL,
    linked INTEGER NOT NULL,
    UNIQUE (store, collection, repo, root)
)
"""
FILES = """
CREATE TABLE IF NOT EXISTS files (
    checkout INTEGER NOT NULL,
    path TEXT NOT NULL,
    blob TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified REAL NOT NULL,
    PRIMARY KEY (checkout, path)
) WITHOUT ROWID
"""
OWNERS = """
CREATE TABLE IF NOT EXISTS owners (
    store TEXT NOT NULL,
    collection TEXT NOT NULL,
    repo TEXT NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (store, collection, repo)
) WITHOUT ROWID
"""
UNKNOWN_ROOT = ""  # of a repo whose folder an earlier version did not record
# Up to INDEX_VERSION 7 `files` had one row for a path of a repo, `checkouts` one for a repo.
FROM_ONE_CHECKOUT = (
    "INSERT INTO versions SELECT store, collection, repo, path, blob, chunks, language, {version}, "
    "status FROM earlier_files",
    "INSERT INTO checkouts (store, collection, repo, root, linked) "
    "SELECT DISTINCT f.store, f.collection, f.repo, coalesce(c.root, ''), 0 FROM earlier_files f "
    "LEFT JOIN earlier_checkouts c USING (store, collection, repo)",
    "INSERT INTO files SELECT c.id, f.path, f.blob, f.size, f.modified FROM earlier_files f "
    "JOIN checkouts c USING (store, collection, repo)",
    "DROP TABLE earlier_files",
    "DROP TABLE earlier_checkouts",
)

OF_REPO = "store = ? AND collection = ? AND repo = ?"
# Whether a checkout of its repo has a version.
HELD = """EXISTS (
    SELECT 1 FROM checkouts c JOIN files f
    ON f.checkout = c.id AND f.path = versions.path AND f.blob = versions.blob
    WHERE c.store = versions.store AND c.collection = versions.collection
    AND c.repo = versions.repo
)"""
HELD_BY = """EXISTS (
    SELECT 1 FROM files f
    WHERE f.checkout = ? AND f.path = versions.path AND f.blob = versions.blob
)"""
ROWS = """
SELECT f.path, f.blob, f.size, f.modified, v.chunks, v.language, v.index_version, v.status
FROM files f JOIN versions v ON v.path = f.path AND v.blob = f.blob
WHERE f.checkout = ? AND v.store = ? AND v.collection = ? AND v.repo = ?
"""

Execute = Callable[[str], sqlite3.Cursor]


def create_tables(execute: Execute) -> None:
    """Create the tables that are missing; those of an earlier version keep their rows."""
    execute("BEGIN IMMEDIATE")  # another process may be doing the same
    columns = {row[1] for row in execute("PRAGMA table_info(files)")}
    is_earlier = "repo" in columns
    if is_earlier:
        execute("ALTER TABLE files RENAME TO earlier_files")
        tables = {row[0] for row in execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "checkouts" in tables:
            execute("ALTER TABLE checkouts RENAME TO earlier_checkouts")
        else:
            execute("CREATE TABLE earlier_checkouts (store, collection, repo, root)")
    for statement in (VERSIONS, UNFINISHED, CHECKOUTS, FILES, OWNERS):
        execute(statement)
    if is_earlier:
        version = "index_version" if "index_version" in columns else "scheme"
        for statement in FROM_ONE_CHECKOUT:
            execute(statement.format(version=version))
