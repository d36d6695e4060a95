"""Open the decoder of the settings: DECODER_URL, else the GGUF file DECODER_MODEL, else none."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from services.core.llm.llamacpp import LlamaDecoder
from services.core.llm.openai import RemoteDecoder
from services.core.llm.protocol import Decoder
from services.core.settings import Settings


@contextlib.asynccontextmanager
async def open_decoder(settings: Settings) -> AsyncIterator[Decoder | None]:
    """Yield the decoder that the settings name, or None, and close it at the end."""
    decoder = _decoder(settings)
    try:
        yield decoder
    finally:
        if decoder is not None:
            await decoder.close()


def _decoder(settings: Settings) -> Decoder | None:
    model, seconds = settings.decoder_model, settings.decoder_timeout_seconds
    if settings.decoder_url is not None:
        key = settings.decoder_api_key
        secret = None if key is None else key.get_secret_value()
        return RemoteDecoder(str(settings.decoder_url), model, secret, seconds)
    if model is None:
        return None
    return LlamaDecoder(Path(model).expanduser(), settings.decoder_context_tokens, seconds)
