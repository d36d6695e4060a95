"""`ctx ask`: answers a question from the code, with `path:line` citations."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ctx.cli import COMMANDS, define_command
from ctx.code.question import ask_indexer, show_notes
from ctx.exit_code import Exit
from ctx.output import show, show_note
from ctx.terminal import colored, dimmed, is_seen, path_from_here

_CITED = re.compile(r"\[(\d+)\]")
QUOTED = "extractive"  # what `decoder_used` says of an answer that no model wrote
# Of the best source's relevance: what a person reads. Callers of what is asked have just this.
SHOWN_SHARE = 0.5
ROUNDED = 0.001  # relevance has three digits


@define_command(
    "ask",
    COMMANDS["ask"] + " Each line names its source as path:line. With a decoder, sentences appear "
    "as they are written; without one the answer is quoted from the code.",
    no="the code has no answer",
    examples=[
        'ctx ask "How are failed calls retried?"',
        "ctx ask where are sessions signed --under src --json",
    ],
)
@click.argument("question", nargs=-1, required=True)
@click.option("--language", metavar="NAME", help="Only this language.")
@click.option("--under", metavar="FOLDER", help="Only this folder and all below it.")
@click.option("--path-glob", metavar="GLOB", help="Only paths that match.")
@click.option("--repo", metavar="NAME", help="Only this repository; * is every one.")
@click.option("--budget", "budget_tokens", type=int, metavar="TOKENS", help="Tokens of sources.")
def command(question: tuple[str, ...], as_json: bool, **filters: Any) -> int:
    """Ask the running indexer, or answer in this process."""

    async def stream(_done: float, _total: float | None, sentence: str | None) -> None:
        if sentence and _CITED.search(sentence) and is_seen() and not as_json:
            print(dimmed(sentence), flush=True)

    arguments = {"query": " ".join(question), **filters}
    body = ask_indexer("context_answer", arguments, on_progress=stream)
    shown = relevant_lines(body)
    show(body, lambda answer: _text(answer, shown), as_json=as_json)
    left_out = len(body["answer"].splitlines()) - len(shown)
    if left_out and not as_json:
        lines = "1 line" if left_out == 1 else f"{left_out} lines"
        show_note(f"{lines} of less relevant code left out; --json has all")
    show_notes(body)
    return Exit.DONE if body["citations"] else Exit.NO


def relevant_lines(body: Mapping[str, Any]) -> list[str]:
    """Return the lines of an answer; of a quoted one, those of the relevant sources."""
    lines: list[str] = body["answer"].splitlines()
    relevance = {each["id"]: each["relevance"] for each in body["citations"]}
    if body["decoder_used"] != QUOTED or not relevance:
        return lines
    least = SHOWN_SHARE * max(relevance.values()) - ROUNDED

    def is_relevant(line: str) -> bool:
        cited = [relevance.get(int(each), 0.0) for each in _CITED.findall(line)]
        return not cited or max(cited) >= least

    return [line for line in lines if is_relevant(line)]


def _text(body: Mapping[str, Any], lines: Sequence[str]) -> str:
    """Write the answer; each number becomes the place that terminals make clickable."""
    places = {
        each["id"]: f"{path_from_here(each['path'])}:{each['start_line']}"
        for each in body["citations"]
    }

    def place(found: re.Match[str]) -> str:
        return colored(places.get(int(found[1]), found[0]), "path")

    return "\n".join(_CITED.sub(place, line) for line in lines)
