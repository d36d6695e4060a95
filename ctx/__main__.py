"""`python -m ctx`, this file by its path, and the scripts `ctx` and `ctx-engine` of ctx/bin."""

import os
import sys


def main(argv: list[str] | None = None) -> int:
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


def _run(words: list[str]) -> int:
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


def start() -> int:
    """Run the command of this process, whose `sys.path` is reversed; return its exit code."""
    from ctx_core.environment.import_path import leave_guests_out

    leave_guests_out(os.path.dirname(os.path.dirname(__file__)))
    return main()


if __name__ == "__main__":
    ours = os.path.dirname(os.path.dirname(__file__))
    sys.path[:] = [ours, *reversed(sys.path)]  # the folders of PYTHONPATH come after the library
    sys.exit(start())
