"""Writes running summaries of texts too long for one prompt."""

from collections.abc import Sequence

from ctx_core.blocking import COMPUTE
from ctx_core.errors import DecoderFailed
from ctx_core.llm.protocol import Decoder
from ctx_core.text.excerpts import truncate
from ctx_memory.summaries.extractive import MAX_CHARACTERS, MAX_READ, NAME, extract

PROMPT_TOKENS = 300  # of the instructions
MIN_CHARACTERS_PER_TOKEN = 3  # a cautious estimate, so that a prompt fits into the context
MIN_READ = 1_000  # characters of a part, however small the context is
SYSTEM = "You summarise conversations of a software project for a later reader. You add nothing."
EXTEND = (
    "Below are the summary of a conversation so far and the messages after it. Write one summary "
    "of all of it. Keep names, numbers, decisions, causes and open questions; leave out politeness "
    "and repetition. Write plain sentences, no heading, no preamble.\n\n"
    "<summary>\n{summary}\n</summary>\n\n<messages>\n{text}\n</messages>"
)
COMBINE = (
    "Below are summaries of conversations that belong together. Write one summary of all of them: "
    "what they have in common, decisions, open questions. Write plain sentences, no heading, no "
    "preamble.\n\n<summaries>\n{text}\n</summaries>"
)


class SummaryWriter:
    """Writes by the decoder, or from the best sentences where that is None."""

    def __init__(self, decoder: Decoder | None, max_tokens: int, context_tokens: int) -> None:
        self._decoder = decoder
        self._max_tokens = min(max_tokens, context_tokens // 4)
        self._context_tokens = context_tokens

    @property
    def name(self) -> str:
        """The decoder's name, or `extractive`."""
        return NAME if self._decoder is None else self._decoder.name

    @property
    def is_extractive(self) -> bool:
        return self._decoder is None

    @property
    def max_read(self) -> int:
        """How many characters of new text one call reads beside a summary."""
        if self._decoder is None:
            return MAX_READ - MAX_CHARACTERS
        tokens = self._context_tokens - 2 * self._max_tokens - PROMPT_TOKENS
        return max(MIN_READ, tokens * MIN_CHARACTERS_PER_TOKEN)

    async def extend(self, summary: str, text: str) -> str:
        """Return a summary of an earlier summary and the text after it. Raises DecoderFailed."""
        text = text[: self.max_read]
        if self._decoder is None:
            return await COMPUTE.run(extract, f"{summary}\n{text}")
        longest = self._max_tokens * MIN_CHARACTERS_PER_TOKEN
        prompt = EXTEND.format(summary=summary[:longest] or "(none yet)", text=text)
        return await self._complete(self._decoder, prompt)

    async def combine(self, parts: Sequence[str]) -> str | None:
        """Return a summary of summaries, None without a decoder. Raises DecoderFailed."""
        if self._decoder is None:
            return None
        share = max(200, self.max_read // max(1, len(parts)))
        text = "\n\n".join(truncate(part, share) for part in parts)
        return await self._complete(self._decoder, COMBINE.format(text=text[: self.max_read]))

    async def _complete(self, decoder: Decoder, prompt: str) -> str:
        written = (await decoder.complete(prompt, self._max_tokens, system=SYSTEM)).strip()
        if not written:
            raise DecoderFailed(f"{decoder.name} answered nothing")
        return written
