"""`python -m ctx`, and the console script `ctx`."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if argv is None:  # this process is the command, and its streams are ours
            from ctx.output import check_streams

            check_streams(words)
        code = _run(words)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:  # while something is imported
        from ctx.exit_code import Exit

        return Exit.INTERRUPTED


def _run(words: Sequence[str]) -> int:
    import click

    from ctx.cli import cli
    from ctx.exit_code import Exit
    from ctx.output import show_error
    from ctx_core.errors import RequestInvalid

    try:
        return int(cli.main(words, prog_name="ctx", standalone_mode=False) or 0)
    except click.ClickException as error:
        if "--json" in words:
            show_error(RequestInvalid(error.format_message()), as_json=True)
        else:
            error.show()
        return error.exit_code
    except click.Abort:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
