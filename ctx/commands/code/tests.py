"""`ctx tests`: a search among files of one purpose."""

from ctx.cli import COMMANDS, define_command
from ctx.code.purpose import search_by

command = define_command(
    "tests",
    COMMANDS["tests"]
    + " QUERY is words, a question or a symbol; of a symbol the tests that call it come first.",
    no="nothing is found",
    examples=["ctx tests Session.send", "ctx tests how are retries tested --limit 10 --json"],
)(search_by("search_tests_for"))
