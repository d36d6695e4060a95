"""The programs of scripts/bench: each is run by its module's name and tells how."""

import importlib
from pathlib import Path

import pytest

from scripts.bench.figures import ROOT

INSIDE = ("faults.launcher", "graph.witnesses")  # started by another program, or in its own venv


def _programs() -> list[str]:
    """Return the modules with a main program: `scripts.bench.soak.__main__`."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted((ROOT / "scripts" / "bench").rglob("*.py"))
        if '__name__ == "__main__"' in path.read_text() and not _is_inside(path)
    ]


def _is_inside(path: Path) -> bool:
    name = ".".join(path.relative_to(ROOT / "scripts" / "bench").with_suffix("").parts)
    return name.startswith(INSIDE)


@pytest.mark.parametrize("module", _programs())
def test_a_program_tells_how_it_is_run(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [module, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module).main()
    assert ended.value.code == 0
    usage = capsys.readouterr().out
    assert f"python -m {module.removesuffix('.__main__')}" in usage


def test_no_program_puts_a_folder_on_the_path() -> None:
    hacks = [
        str(path)
        for path in (ROOT / "scripts").rglob("*.py")
        if "witnesses" not in path.parts and "sys.path" in path.read_text()
    ]
    assert hacks == []
