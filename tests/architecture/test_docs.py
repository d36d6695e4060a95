"""Docs are generated or tested."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.core.memories.collection import INDEXES as MEMORY_INDEXES
from services.core.settings import Settings, env_names
from services.core.vectors.types import BM25, DENSE
from services.indexer.indexing.workspace_state import OWN_FOLDER, STATE_FILE
from services.indexer.schema import fields
from services.memory.knowledge.folder import FOLDER_NAME
from services.memory.projection.projection import POINT_COUNT, REVISION
from services.memory.records.tables import VERSION_TABLE, schema
from services.memory.search.points import INDEXES as ENTRY_INDEXES
from tests.architecture.test_imports import MAY_IMPORT

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scripts/**/*.md")]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.slow
def test_generated_pages_are_fresh() -> None:
    command = [sys.executable, "scripts/docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert [name for name in env_names() if f"`{name}`" not in page] == []


def test_links_lead_somewhere() -> None:
    dead = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert dead == []


def test_settings_named_in_docs_exist() -> None:
    named = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"\bCTX_[A-Z_]+[A-Z]\b", page.read_text())
    }
    assert {(page, name) for page, name in named if name not in env_names()} == set()


def test_the_readme_commands_are_what_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text()
    ci = (ROOT / ".ci" / "run").read_text()
    assert "./scripts/test" in readme
    assert "./scripts/up" in readme
    assert "exec ./scripts/test" in ci


def test_the_architecture_shows_every_room() -> None:
    tree = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    rooms = {room for room in MAY_IMPORT if len(room.split(".")) == 2}
    folders = {name for _, name in (room.split(".") for room in rooms if is_folder(room))}
    assert {name for name in folders if f"    {name}/ " not in tree} == set()
    files = {path.name for path in (ROOT / "services" / "core").glob("[a-z]*.py")}
    assert {name for name in files if name not in tree} == set()
    shown = set(re.findall(r"^    (\w+)/ ", tree, re.MULTILINE))
    assert shown - folders == set()


def is_folder(room: str) -> bool:
    return (ROOT / "services" / room.replace(".", "/")).is_dir()


def test_the_formats_name_every_file_field_and_table() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    payload = {
        value for name, value in vars(fields).items() if name.isupper() and name != "INDEXES"
    }
    indexed = {*fields.INDEXES, *MEMORY_INDEXES, *ENTRY_INDEXES}
    settings = Settings()
    files = {settings.index_state_path.name, settings.embedding_cache_path.name}
    others = {
        REVISION,
        POINT_COUNT,
        DENSE,
        BM25,
        VERSION_TABLE,
        STATE_FILE,
        OWN_FOLDER,
        FOLDER_NAME,
    }
    named = {str(each) for each in payload | indexed | files | others | schema.tables.keys()}
    assert {each for each in named if not re.search(rf"`[^`]*{re.escape(each)}\b", page)} == set()
