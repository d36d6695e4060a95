"""`python -m ctx`, and the console script `ctx`."""

import sys
from collections.abc import Sequence

import click

from ctx.cli import cli
from ctx.exit_code import Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return int(cli.main(argv, prog_name="ctx", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
