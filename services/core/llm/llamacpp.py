"""A decoder in this process: llama.cpp with a GGUF file, in its own thread."""

import asyncio
import importlib.util
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from services.core.blocking import DISK
from services.core.errors import DecoderFailed, ModelUnavailable
from services.core.llm.protocol import messages

PACKAGE = "llama_cpp"


class LlamaDecoder:
    """Loads the model at the first call, and answers one call at a time.

    A cancelled call frees the thread at the next token.
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
        cancelled = threading.Event()
        work = self._thread.submit(self._generate, messages(prompt, system), max_tokens, cancelled)
        try:
            return await asyncio.wrap_future(work)
        finally:
            cancelled.set()

    async def close(self) -> None:
        self._stopped.set()
        await DISK.run(self._thread.shutdown, cancel_futures=True)
        if self._model is not None:
            self._model.close()

    # --- in the thread ---------------------------------------------------------------------

    def _generate(
        self, conversation: list[dict[str, str]], max_tokens: int, cancelled: threading.Event
    ) -> str:
        """Return the answer, with the deadline checked at each token; loading does not count."""
        model = self._load()
        deadline = time.monotonic() + self._timeout
        texts = []
        try:
            chunks = model.create_chat_completion(
                conversation, max_tokens=max_tokens, temperature=0.0, stream=True
            )
            for chunk in chunks:
                texts.append(chunk["choices"][0]["delta"].get("content") or "")
                if cancelled.is_set() or self._stopped.is_set():
                    break
                if time.monotonic() > deadline:
                    raise DecoderFailed(
                        f"{self.name} did not finish within {self._timeout:g} s: raise "
                        "DECODER_TIMEOUT_SECONDS, or choose a smaller model"
                    )
        except (ValueError, RuntimeError) as error:
            raise self._failure(error) from error
        return "".join(texts)

    def _load(self) -> Any:
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

    def _failure(self, error: Exception) -> DecoderFailed:
        if "context window" in str(error):
            return DecoderFailed(
                f"The prompt does not fit into {self._context_tokens} tokens ({error}): raise "
                "DECODER_CONTEXT_TOKENS"
            )
        return DecoderFailed(f"{self.name} failed ({error}): look into the log")
