"""What writes text."""

from typing import Protocol


class Decoder(Protocol):
    """A language model. What it cannot do it says with DecoderFailed, and with the next step."""

    @property
    def name(self) -> str: ...

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        """The answer to a prompt: the model's likeliest words, at most so many tokens."""
        ...

    async def close(self) -> None: ...


def messages(prompt: str, system: str | None) -> list[dict[str, str]]:
    """The conversation as chat models take it."""
    instruction = [] if system is None else [{"role": "system", "content": system}]
    return [*instruction, {"role": "user", "content": prompt}]
