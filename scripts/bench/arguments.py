"""The options of a program."""

import argparse
import sys


def program_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is a module's docstring, under the name that starts the program.

    `python -m scripts.bench.soak --help` → `usage: python -m scripts.bench.soak [-h] …`
    """
    spec = sys.modules["__main__"].__spec__
    return argparse.ArgumentParser(
        prog=f"python -m {spec.name.removesuffix('.__main__')}" if spec else None,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
