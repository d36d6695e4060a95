"""The interface of decoders, the models that generate text."""

from typing import Protocol


class Decoder(Protocol):
    """A language model. Its methods raise DecoderFailed, which says what to do."""

    @property
    def name(self) -> str: ...

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        """Return the most likely answer to a prompt, of at most `max_tokens` tokens."""
        ...

    async def close(self) -> None: ...


def messages(prompt: str, system: str | None) -> list[dict[str, str]]:
    """Return a prompt as the messages of a chat."""
    instruction = [] if system is None else [{"role": "system", "content": system}]
    return [*instruction, {"role": "user", "content": prompt}]
