"""`ctx config`: a search among files of one purpose."""

from ctx.cli import COMMANDS, define_command
from ctx.code.purpose import search_by

command = define_command(
    "config",
    COMMANDS["config"] + " QUERY is words or a question.",
    no="nothing is found",
    examples=["ctx config database url", "ctx config release workflow --language yaml --json"],
)(search_by("search_config_for"))
