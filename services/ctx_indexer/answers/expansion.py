"""Expands a query into other wordings: by a decoder, else by suffixes."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.errors import DecoderFailed
from ctx_core.llm.protocol import Generation, StreamingDecoder
from ctx_core.text.tokens import word_list
from ctx_indexer.answers.deadline import Deadline
from ctx_indexer.answers.planted import addresses_model
from ctx_indexer.answers.prompt import list_grammar

MAX_NEW = 2
MAX_TOKENS = 96  # of two short queries
MAX_LENGTH = 120
FALLBACK, NONE = "fallback", "none"
SUFFIXES = ("implementation", "definition")  # words that code and its documentation have
SYSTEM = (
    "You rewrite search queries for code. Answer with a JSON list of other short wordings of the "
    "query, with words that the code itself may use. Nothing else."
)


@dataclass(frozen=True)
class Expansion:
    """Other wordings of a query, their writer, and why that was not the decoder."""

    alternates: Sequence[str]
    decoder: str
    failure: str = ""


class Expander:
    """Expands queries with a decoder where there is one."""

    def __init__(self, decoder: StreamingDecoder | None) -> None:
        self._decoder = decoder

    async def expand(self, queries: Sequence[str], max_new: int, deadline: Deadline) -> Expansion:
        """Return at most `max_new` other wordings, by suffixes where the decoder is late."""
        if max_new == 0:
            return Expansion((), NONE)
        if self._decoder is None:
            return Expansion(suffixed(queries, max_new), FALLBACK)
        try:
            async with asyncio.timeout(deadline.left):
                found = await self._ask(self._decoder, queries, max_new)
        except TimeoutError:
            failure = f"{self._decoder.name} did not finish within {deadline.seconds:g} s"
            return Expansion(suffixed(queries, max_new), FALLBACK, failure)
        except DecoderFailed as error:
            return Expansion(suffixed(queries, max_new), FALLBACK, error.message)
        if not found:
            failure = f"{self._decoder.name} wrote no other wording"
            return Expansion(suffixed(queries, max_new), FALLBACK, failure)
        return Expansion(found, self._decoder.runtime)

    async def _ask(
        self, decoder: StreamingDecoder, queries: Sequence[str], max_new: int
    ) -> list[str]:
        asked = "\n".join(" ".join(query.split()) for query in queries)
        prompt = f"Query: {asked}\n{max_new} other wordings as a JSON list:"
        request = Generation(prompt, MAX_TOKENS, SYSTEM, list_grammar(max_new))
        text = "".join([part async for part in decoder.stream(request)])
        return read_alternates(text, queries, max_new)


def read_alternates(text: str, queries: Sequence[str], max_new: int) -> list[str]:
    """Read a JSON list out of a generated text, without the queries themselves."""
    start, end = text.find("["), text.rfind("]")
    try:
        listed = json.loads(text[start : end + 1]) if 0 <= start < end else []
    except ValueError:
        return []
    known = {tuple(word_list(query.lower())) for query in queries}
    found: list[str] = []
    for each in listed:
        given = " ".join(each.split()) if isinstance(each, str) else ""
        wording = tuple(word_list(given.lower()))
        is_new = wording not in known and len(given) <= MAX_LENGTH
        if given and is_new and not addresses_model(given):
            known.add(wording)
            found.append(given)
    return found[:max_new]


def suffixed(queries: Sequence[str], max_new: int) -> list[str]:
    """Return the first query with words that code and documentation add."""
    first = " ".join(queries[0].split())
    return [f"{first} {suffix}" for suffix in SUFFIXES[:max_new]]
