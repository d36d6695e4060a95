"""Docs are generated or tested."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.core.settings import env_names

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
