"""A block for agents in AGENTS.md and CLAUDE.md, between markers: put in, taken out."""

from pathlib import Path

from ctx.install.configuration import Edit, decoded, is_as_written, read_file, restored

BEGIN, END = "<!-- ctx: begin -->", "<!-- ctx: end -->"
BLOCK = f"""{BEGIN}
## Code search and memory

The MCP server `ctx` knows this code and what was learned before.

- Before reading files: `repo_search` for questions, `exact_search` for names and for all that must
  be complete, `search_callers_for` for who calls, `read_code` for a definition.
- Before solving what may have come up already: `find`. After learning a decision, pattern or
  pitfall: `store`.
{END}
"""
FILES = ("AGENTS.md", "CLAUDE.md")


def with_block(file: Path) -> Edit:
    """Plan a file with the block: in the place of an earlier one, or at its end."""
    before = read_file(file)
    text = _without(decoded(file, before))
    after = f"{text.rstrip()}\n\n{BLOCK}" if text.strip() else BLOCK
    return Edit(file, before, after.encode(), text.encode())


def without_block(file: Path, data_dir: Path) -> Edit | None:
    """Plan a file without the block; None where it has none."""
    before = read_file(file)
    if before is None or BEGIN not in decoded(file, before):
        return None
    if is_as_written(file, before, data_dir):
        return restored(file, before, data_dir)
    return Edit(file, before, _without(decoded(file, before)).encode())


def _without(text: str) -> str:
    """Take every block out, with the line break on either side of it."""
    kept, _, rest = text.partition(BEGIN)
    while rest:
        inside, end, after = rest.partition(END)
        if not end:
            return kept + BEGIN + inside  # a block without an end is the user's to mend
        following, _, rest = after.removeprefix("\n").partition(BEGIN)
        kept = kept.removesuffix("\n") + following
    return kept
