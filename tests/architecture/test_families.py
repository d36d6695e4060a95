"""A family of languages is one folder: nothing outside names it, and it names no other."""

import pytest

from tests.architecture.test_imports import ROOT, Import, imports, is_lawful, module_of

LANGUAGES = ROOT / "services" / "ctx_indexer" / "languages"
FAMILY = "ctx_indexer.languages."


def family_of(module: str) -> str:
    """Return the folder of a module: `….languages.go.imports` → go; empty beside the folders."""
    first = module.removeprefix(FAMILY).partition(".")[0]
    return (
        first if module.startswith(FAMILY) and (LANGUAGES / first / "language.py").is_file() else ""
    )


def test_families_do_not_know_each_other() -> None:
    offenders = [
        str(found)
        for path in LANGUAGES.glob("*/**/*.py")
        for found in imports(path)
        if family_of(found.module)
        not in ("", family_of(module_of(path.relative_to(ROOT).as_posix())))
    ]
    assert offenders == []


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("services/ctx_indexer/syntax/grammar.py", "ctx_indexer.languages.go.language"),
        ("services/ctx_indexer/languages/go/language.py", "ctx_indexer.graph.calls"),
    ],
)
def test_other_rooms_name_no_family(path: str, module: str) -> None:
    assert not is_lawful(Import(path, 1, module))
