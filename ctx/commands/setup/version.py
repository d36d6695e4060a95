"""`ctx version`."""

from importlib import metadata

from ctx.cli import COMMANDS, define_command
from ctx.output import show


@define_command("version", COMMANDS["version"], examples=["ctx version", "ctx version --json"])
def command(as_json: bool) -> int:
    """Print the version."""
    version = metadata.version("ctx-engine")
    show({"version": version}, lambda body: f"ctx {body['version']}", as_json=as_json)
    return 0
