"""Open the decoder of the settings: by REFRAG_RUNTIME, DECODER_URL or DECODER_MODEL, else none.

A process opens a decoder once, however many services use it.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pydantic import SecretStr

from ctx_core.llm.llamacpp import LlamaDecoder
from ctx_core.llm.model_files import find_model
from ctx_core.llm.openai import Endpoint, RemoteDecoder
from ctx_core.llm.protocol import StreamingDecoder
from ctx_core.settings import Settings
from ctx_core.settings.models import GLM, MINIMAX


@dataclass
class _Shared:
    """A decoder, and how many use it."""

    decoder: StreamingDecoder
    users: int = 0


_open: dict[tuple[object, ...], _Shared] = {}


@contextlib.asynccontextmanager
async def open_decoder(settings: Settings) -> AsyncIterator[StreamingDecoder | None]:
    """Yield the decoder that the settings name, or None; the last user closes it.

    Raises ModelUnavailable.
    """
    if not settings.has_decoder:
        yield None
        return
    key = _key(settings)
    shared = _open.get(key) or _open.setdefault(key, _Shared(_decoder(settings)))
    shared.users += 1
    try:
        yield shared.decoder
    finally:
        shared.users -= 1
        if not shared.users:
            del _open[key]
            await shared.decoder.close()


def _key(settings: Settings) -> tuple[object, ...]:
    return (
        settings.refrag_runtime,
        settings.decoder_url,
        settings.decoder_model,
        settings.data_dir,
        settings.decoder_timeout_seconds,
        settings.decoder_context_tokens,
    )


def _decoder(settings: Settings) -> StreamingDecoder:
    seconds = settings.decoder_timeout_seconds
    served = _endpoint(settings)
    if served is not None:
        return RemoteDecoder(served, seconds)
    path = find_model(settings)
    return LlamaDecoder(path, settings.decoder_context_tokens, seconds)


def _endpoint(settings: Settings) -> Endpoint | None:
    if settings.refrag_runtime == GLM:
        return Endpoint(
            str(settings.glm_api_base),
            settings.glm_model,
            _secret(settings.glm_api_key),
            GLM,
            takes_grammar=False,
            more={"thinking": {"type": "disabled"}},
        )
    if settings.refrag_runtime == MINIMAX:
        key = _secret(settings.minimax_api_key)
        url, model = str(settings.minimax_api_base), settings.minimax_model
        return Endpoint(url, model, key, MINIMAX, takes_grammar=False)
    if settings.decoder_url is None:
        return None
    key = _secret(settings.decoder_api_key)
    return Endpoint(str(settings.decoder_url), settings.decoder_model, key)


def _secret(given: SecretStr | None) -> str | None:
    return None if given is None else given.get_secret_value()
