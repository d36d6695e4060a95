"""Docs are generated or tested."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ctx.cli import cli
from ctx_core.memories.collection import INDEXES as MEMORY_INDEXES
from ctx_core.settings import Settings, env_names
from ctx_core.settings.removed import REMOVED
from ctx_core.vectors.specs import BM25, DENSE
from ctx_indexer.indexing.workspace_state import OWN_FOLDER, STATE_FILE
from ctx_indexer.schema import fields
from ctx_memory.knowledge.folder import FOLDER_NAME
from ctx_memory.projection.projection import POINT_COUNT, REVISION
from ctx_memory.records.tables import VERSION_TABLE, schema
from ctx_memory.search.points import INDEXES as ENTRY_INDEXES
from tests.architecture.test_imports import MAY_IMPORT

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("scripts/**/*.md")]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
ANCHOR = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")
COMMAND = re.compile(r"(?:`|^)ctx ([a-z]+)", re.MULTILINE)


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


def test_anchors_are_headings() -> None:
    dead = [
        f"{page.name}: {target}#{anchor}"
        for page in PAGES
        for target, anchor in ANCHOR.findall(page.read_text())
        if anchor not in _anchors(page.parent / target if target else page)
    ]
    assert dead == []


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text())}
    pages = {*ROOT.glob("docs/*.md")} - {index}
    assert {page.name for page in pages if page not in linked} == set()
    decisions = (ROOT / "docs" / "decisions" / "README.md").read_text()
    listed = set(LINK.findall(decisions))
    assert {page.name for page in ROOT.glob("docs/decisions/[0-9]*.md")} <= listed
    assert index.relative_to(ROOT).as_posix() in LINK.findall((ROOT / "README.md").read_text())


def test_commands_named_in_docs_exist() -> None:
    context = click.Context(cli, info_name="ctx")
    wrong = {
        (page.name, words)
        for page in ROOT.glob("docs/*.md")
        if page.name != "command-line.md"
        for words in COMMAND.findall(page.read_text())
        if cli.get_command(context, words) is None
    }
    assert wrong == set()


def test_settings_named_in_docs_exist() -> None:
    named = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"\bCTX_[A-Z_]+[A-Z]\b", page.read_text())
    }
    history = {("CHANGELOG.md", name) for name in REMOVED}
    assert {(page, name) for page, name in named - history if name not in env_names()} == set()


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
    files = {path.name for path in (ROOT / "services" / "ctx_core").glob("[a-z]*.py")}
    assert {name for name in files if name not in tree} == set()
    shown = set(re.findall(r"^    (\w+)/ ", tree, re.MULTILINE))
    assert shown - folders == set()


def is_folder(room: str) -> bool:
    return (ROOT / "services" / f"ctx_{room.replace('.', '/')}").is_dir()


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
