"""The interface of decoders, the models that generate text."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

# How templates of chats mark turns: text that is meant as data must not begin one.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
)


@dataclass(frozen=True)
class Generation:
    """A request to a decoder. A grammar (GBNF) binds the text where the runtime takes one."""

    prompt: str
    max_tokens: int
    system: str | None = None
    grammar: str | None = None
    temperature: float = 0.0


class Decoder(Protocol):
    """A language model. Its methods raise DecoderFailed, with a remedy."""

    @property
    def name(self) -> str: ...

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        """Return the most likely answer to a prompt, of at most `max_tokens` tokens."""
        ...

    async def close(self) -> None: ...


class StreamingDecoder(Decoder, Protocol):
    """A decoder whose text can be read as it is generated, and bound to a grammar.

    `runtime` is the kind of its runtime, such as llamacpp; `memory_bytes` its memory here.
    """

    @property
    def runtime(self) -> str: ...

    @property
    def memory_bytes(self) -> int: ...

    def stream(self, request: Generation) -> AsyncGenerator[str, None]:
        """Yield the text as it is generated; it ends when the iterator is closed."""
        ...

    async def count_tokens(self, text: str) -> int:
        """Count the tokens of a text as the model reads it."""
        ...


def messages(prompt: str, system: str | None) -> list[dict[str, str]]:
    """Return a prompt as the messages of a chat; marks of turns inside texts are broken."""
    instruction = [] if system is None else [{"role": "system", "content": _plain(system)}]
    return [*instruction, {"role": "user", "content": _plain(prompt)}]


def _plain(text: str) -> str:
    """Break the marks of turns, so that no tokenizer reads them as such."""
    return _CONTROL.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
