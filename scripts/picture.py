"""Draws docs/terminal.svg: what `ctx search` and `ctx ask` really print about code of ctx."""

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "terminal.svg"
SAMPLE = ROOT / "services" / "ctx_memory"  # what is searched: the code of the memory server
QUESTION = "how is the lease of an outbox row renewed"
COMMANDS = (("search", QUESTION, "--limit", "2"), ("ask", QUESTION, "--budget", "400"))
WIDTH, ROWS = 100, 50
# Fonts would be fetched from a host by everybody who looks at the picture.
FONTS = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)


def main() -> int:
    """Index the sample, run the commands on a terminal, and write the picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / SAMPLE.name
        shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
        env = _environment(Path(name))
        subprocess.run(_ctx("index"), cwd=folder, env=env, check=True, capture_output=True)
        shown = [(command, on_terminal(_ctx(*command), folder, env)) for command in COMMANDS]
    PICTURE.write_text(drawn(shown))
    print(f"wrote {PICTURE.relative_to(ROOT)}")
    return 0


def on_terminal(command: Sequence[str], folder: Path, env: dict[str, str]) -> str:
    """Return what a command prints to a terminal, with its colours."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, WIDTH, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=writer, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    parts = []
    try:
        while part := os.read(reader, 65_536):
            parts.append(part)
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(reader)
    if process.wait() != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return b"".join(parts).decode().replace("\r\n", "\n")


def drawn(shown: Sequence[tuple[Sequence[str], str]]) -> str:
    """Return the picture of commands and what they printed; it refers to nothing outside."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    for command, output in shown:
        console.print(Text.assemble(("$ ", "bold green"), (f"ctx {' '.join(command)}", "bold")))
        console.print(Text.from_ansi(output.rstrip()))
        console.print()
    picture = console.export_svg(title="ctx", unique_id="ctx", font_aspect_ratio=0.61)
    return FONTS.sub("", picture)


def _ctx(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ctx", *arguments]


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment without settings, and with ports where no server answers."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CTX_", "QDRANT_"))}
    kept.pop("NO_COLOR", None)
    ports = {f"CTX_{name}_HTTP_PORT": str(9 + at) for at, name in enumerate(("MEMORY", "INDEXER"))}
    return kept | ports | {"CTX_DATA_DIR": str(folder / "data"), "TERM": "xterm-256color"}


if __name__ == "__main__":
    sys.exit(main())
