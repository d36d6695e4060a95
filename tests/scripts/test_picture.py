"""The picture of README.md: made of real output, and asks no other host for anything."""

import re
import sys
from pathlib import Path

from scripts.picture import COMMANDS, PICTURE, drawn, on_terminal
from tests.support.processes import ROOT, environment

OUTSIDE = re.compile(r"@import|@font-face|url\((?!#)|href=|<script|<image")


def test_a_terminal_is_drawn_with_its_colours(tmp_path: Path) -> None:
    program = "import sys; print(sys.stdout.isatty(), '\\x1b[36mblue\\x1b[0m <&>')"
    shown = on_terminal([sys.executable, "-c", program], tmp_path, environment(tmp_path))
    assert shown == "True \x1b[36mblue\x1b[0m <&>\n"
    picture = drawn([(("version",), shown)])
    assert "ctx&#160;version" in picture
    assert re.search(r'class="ctx-r\d"[^>]*>blue<', picture)
    assert not OUTSIDE.search(picture)


def test_the_picture_shows_the_commands_and_stands_alone() -> None:
    picture = PICTURE.read_text()
    assert not OUTSIDE.search(picture)
    for command in COMMANDS:
        assert "&#160;".join(["ctx", *" ".join(command).split()]) in picture
    assert f"({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
