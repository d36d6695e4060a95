"""A decoder in this process: llama.cpp on a GGUF file, in a thread of its own."""

import asyncio
import importlib.util
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from services.core.errors import DecoderFailed, ModelUnavailable
from services.core.llm.protocol import messages

PACKAGE = "llama_cpp"


class LlamaDecoder:
    """Loaded at the first call; one call at a time, the others wait.

    A caller that gives up ends its call: the thread is free before the next word.
    """

    def __init__(self, path: Path, context_tokens: int, timeout: float) -> None:
        if importlib.util.find_spec(PACKAGE) is None:
            raise ModelUnavailable(
                f"DECODER_MODEL={path} needs llama.cpp: pip install 'ctx-engine[llm]', or name a "
                "server with DECODER_URL"
            )
        if not path.is_file():
            raise ModelUnavailable(
                f"DECODER_MODEL={path} is no file: give the path of a GGUF file, or name a server "
                "with DECODER_URL"
            )
        self.name = path.stem
        self._path = path
        self._context_tokens = context_tokens
        self._timeout = timeout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="decoder")
        self._stopped = threading.Event()
        self._model: Any = None

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        given_up = threading.Event()
        work = self._thread.submit(self._write, messages(prompt, system), max_tokens, given_up)
        try:
            return await asyncio.wrap_future(work)
        finally:
            given_up.set()

    async def close(self) -> None:
        self._stopped.set()
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        if self._model is not None:
            self._model.close()

    # --- in the thread ---------------------------------------------------------------------

    def _write(
        self, conversation: list[dict[str, str]], max_tokens: int, given_up: threading.Event
    ) -> str:
        """The answer, looked at word by word; loading does not count against the time."""
        model = self._loaded()
        deadline = time.monotonic() + self._timeout
        written = []
        try:
            pieces = model.create_chat_completion(
                conversation, max_tokens=max_tokens, temperature=0.0, stream=True
            )
            for piece in pieces:
                written.append(piece["choices"][0]["delta"].get("content") or "")
                if given_up.is_set() or self._stopped.is_set():
                    break
                if time.monotonic() > deadline:
                    raise DecoderFailed(
                        f"{self.name} did not finish within {self._timeout:g} s: raise "
                        "DECODER_TIMEOUT_SECONDS, or choose a smaller model"
                    )
        except (ValueError, RuntimeError) as error:
            raise self._refused(error) from error
        return "".join(written)

    def _loaded(self) -> Any:
        if self._model is None:
            import llama_cpp  # noqa: PLC0415 - an extra, and slow to import

            try:
                self._model = llama_cpp.Llama(
                    str(self._path), n_ctx=self._context_tokens, verbose=False
                )
            except (ValueError, RuntimeError, OSError) as error:
                raise DecoderFailed(
                    f"{self._path} cannot be loaded ({error}): give DECODER_MODEL a whole GGUF file"
                ) from error
        return self._model

    def _refused(self, error: Exception) -> DecoderFailed:
        if "context window" in str(error):
            return DecoderFailed(
                f"The prompt does not fit into {self._context_tokens} tokens ({error}): raise "
                "DECODER_CONTEXT_TOKENS"
            )
        return DecoderFailed(f"{self.name} failed ({error}): look into the log")
