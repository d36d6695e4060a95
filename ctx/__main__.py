"""`ctx`: parses the command line and hands over. Commands are imported when they are called:
the MCP libraries take more than a second to import."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from ctx.commands.version import version

EXAMPLES = """examples:
  ctx up                    start both servers, embedded, on this machine
  ctx index                 index this folder, or what changed in it
  ctx search retry policy   search it
  ctx status                see whether they answer
  ctx doctor                find out what is wrong, and how to mend it
  ctx status --json         the same for scripts

Settings are environment variables: see docs/configuration.md.
"""

SEARCH_FILTERS = {
    "language": "only this language",
    "under": "only this folder and all below it",
    "kind": "only function, class, method, …",
    "symbol": "only where this name is defined",
    "path_glob": "only paths like this",
    "repo": "only this repository; * is every one",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its return value is the exit code."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = import_module(arguments.module).run
    try:
        code = command(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the output has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ctx",
        description="Code search and memory for coding agents, over MCP.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ctx {version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _command(commands, "up", "Start both servers in one process.", "ctx.commands.up")
    index = _command(commands, "index", "Index a folder; only what changed.", "ctx.commands.index")
    index.add_argument("path", nargs="?", help="the folder (default: CTX_WORKSPACE)")
    index.add_argument("--collection", metavar="NAME", help="a collection of its own")
    index.add_argument("--repo", metavar="NAME", help="what to call the repository")
    index.add_argument(
        "--recreate",
        action="store_true",
        help="build the collection anew, as after a change of EMBEDDING_MODEL; searches go on",
    )
    search = _command(commands, "search", "Search the code of this folder.", "ctx.commands.search")
    search.add_argument("query", nargs="+", help="words, a question or a symbol")
    search.add_argument("--limit", type=int, default=5, help="most results (default: 5)")
    for name, what in SEARCH_FILTERS.items():
        search.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE", help=what)
    memory = _command(commands, "memory", "Look after the memories.", "ctx.commands.memory")
    memory.add_argument("action", choices=["rebuild"], help="rebuild: write Qdrant anew from SQL")
    _command(commands, "status", "Show which servers answer and how.", "ctx.commands.status")
    doctor = _command(
        commands, "doctor", "Check everything; say how to mend it.", "ctx.commands.doctor"
    )
    doctor.add_argument("--fix", action="store_true", help="make Qdrant equal to the records")
    _command(commands, "version", "Show the version.", "ctx.commands.version")
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    description: str,
    module: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=description,
        description=description,
        epilog=f"examples:\n  ctx {name}\n  ctx {name} --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.set_defaults(module=module)
    return parser


if __name__ == "__main__":
    sys.exit(main())
