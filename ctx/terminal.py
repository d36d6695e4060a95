"""What a person sees on a terminal: colours and tables. What is piped is plain text."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ctx_core.environment.terminal import allows_color

COLORS = {"path": "cyan", "name": "green", "good": "green", "bad": "red", "warning": "yellow"}


def is_seen() -> bool:
    """Whether a person reads standard output, in colours."""
    return sys.stdout.isatty() and allows_color()


def colored(text: str, role: str) -> str:
    """Return a text in the colour of what it is; as it is where nobody sees that."""
    return click.style(text, fg=COLORS[role]) if is_seen() else text


def dimmed(text: str) -> str:
    """Return a text that matters less; as it is where nobody sees that."""
    return click.style(text, dim=True) if is_seen() else text


def from_here(text: str) -> str:
    """Return a text with the paths below this folder as they are written here."""
    return text.replace(f"{Path.cwd()}{os.sep}", "")


def path_from_here(path: str) -> str:
    """Return the path of a file in this checkout as it is opened from this folder.

    A server writes it from its own workspace, which may be a folder around the checkout.
    """
    here = Path.cwd()
    top = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    for around in (top, *top.parents):
        file = around / path
        if file.is_relative_to(top) and file.is_file():
            return os.path.relpath(file, here)
    return path


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a table; where nobody sees it, as lines with tabs and without a head."""
    cells = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    return _drawn(heads, cells) if is_seen() else "\n".join("\t".join(row) for row in cells)


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        drawn.add_column(head, overflow="ellipsis", no_wrap=True)
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().strip("\n")
