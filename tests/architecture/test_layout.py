"""Names and sizes of files, the top level, and what its folders know of each other."""

import subprocess
from pathlib import Path

from tests.architecture.test_imports import ROOT, imports, sources

NAMELESS = {"utils", "util", "common", "helpers", "helper", "manager", "base", "misc"}
LONGEST_FILE = 400
MOST_FILES = 20  # in one folder of the product: a room with more is two
TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docker-compose.yml",
    "ctx",
    "services",
    "scripts",
    "deploy",
    "tests",
    "docs",
}


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return listed.stdout.splitlines()


def python_files() -> list[Path]:
    """Shipped files, tests and scripts."""
    return [*sources(), *ROOT.glob("tests/**/*.py"), *ROOT.glob("scripts/**/*.py")]


def test_files_are_named_by_a_noun() -> None:
    assert [str(path) for path in python_files() if path.stem in NAMELESS] == []


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): _lines(path) for path in python_files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_rooms_are_small() -> None:
    folders = {path.parent for path in sources()}
    counts = {str(f.relative_to(ROOT)): len(list(f.glob("*.py"))) for f in folders}
    assert {name: count for name, count in counts.items() if count > MOST_FILES} == {}


def test_the_top_level_is_as_agreed() -> None:
    top = {name.split("/")[0] for name in tracked()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_the_product_imports_neither_scripts_nor_tests_and_scripts_import_no_tests() -> None:
    forbidden = {
        "services": ("scripts", "tests"),
        "ctx": ("scripts", "tests"),
        "scripts": ("tests",),
    }
    offenders = [
        str(found)
        for folder, others in forbidden.items()
        for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
        for found in imports(path)
        if found.module.split(".")[0] in others
    ]
    assert offenders == []
