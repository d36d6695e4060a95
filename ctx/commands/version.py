"""`ctx version`."""

import argparse
import json
from importlib import metadata


def version() -> str:
    return metadata.version("ctx-engine")


def run(arguments: argparse.Namespace) -> int:
    print(json.dumps({"version": version()}) if arguments.json else f"ctx {version()}")
    return 0
