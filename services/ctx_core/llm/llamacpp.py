"""A decoder in this process: llama.cpp with a GGUF file, in its own thread."""

import asyncio
import contextlib
import ctypes
import importlib.util
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count
from pathlib import Path
from typing import Any

from ctx_core.blocking import DISK
from ctx_core.errors import DecoderFailed, ModelUnavailable
from ctx_core.llm.protocol import Generation, messages
from ctx_core.llm.turns import Turns

PACKAGE = "llama_cpp"
RUNTIME = "llamacpp"
REPEAT_PENALTY = 1.1  # the value llama.cpp long had; without any, small models repeat themselves
# Half of the cores: threads that wait for each other on busy cores are many times slower.
THREADS = max(1, (cpu_count() or 1) // 2)


@dataclass
class _Job:
    """One generation: whether its caller went away, and when it must end."""

    deadline: float = 0.0
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline


class _StopFlag:
    """A flag that llama.cpp reads between its operations, also while it reads a long prompt.

    It asks hundreds of times a token, too often for a function of Python; the C library's `strlen`
    of a buffer, 0 or 1, is the same answer.
    """

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(2)

    def set(self) -> None:
        self.buffer[0] = b"1"

    def clear(self) -> None:
        self.buffer[0] = b"\0"


class LlamaDecoder:
    """Loads the model at the first call, and answers one call at a time.

    A cancelled call frees the thread at the next token, also while the prompt is read.
    """

    runtime = RUNTIME

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
        self._turns = Turns(self.name)
        self._stopped = threading.Event()
        self._job = _Job()
        self._model: Any = None
        self._stop_flag = _StopFlag()

    @property
    def memory_bytes(self) -> int:
        """The size of the model's file and of its context's state; 0 before it is loaded."""
        if self._model is None:
            return 0
        import llama_cpp  # noqa: PLC0415 - an extra, loaded by now

        state = llama_cpp.llama_state_get_size(self._model.ctx)
        return self._path.stat().st_size + int(state)

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        return "".join([text async for text in self.stream(Generation(prompt, max_tokens, system))])

    async def stream(self, request: Generation) -> AsyncGenerator[str, None]:
        async with self._turns.turn():
            loop, job = asyncio.get_running_loop(), _Job()
            texts: asyncio.Queue[str | None] = asyncio.Queue()

            def emit(text: str | None) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(texts.put_nowait, text)

            work = self._thread.submit(self._generate, request, emit, job)
            work.add_done_callback(lambda _: emit(None))
            try:
                while (text := await texts.get()) is not None:
                    yield text
                _raise(work)
            finally:
                job.cancelled.set()
                if self._job is job:
                    self._stop_flag.set()

    async def count_tokens(self, text: str) -> int:
        return await asyncio.wrap_future(self._thread.submit(self._count, text))

    async def close(self) -> None:
        self._stopped.set()
        self._stop_flag.set()
        await DISK.run(self._thread.shutdown, cancel_futures=True)
        if self._model is not None:
            self._model.close()

    # --- in the thread ---------------------------------------------------------------------

    def _generate(self, request: Generation, emit: Callable[[str], None], job: _Job) -> None:
        """Emit the answer, with the deadline checked at each token; loading does not count."""
        if job.cancelled.is_set():
            return
        model = self._load()
        job.deadline = time.monotonic() + self._timeout
        self._job = job
        self._stop_flag.clear()
        try:
            chunks = model.create_chat_completion(
                messages(request.prompt, request.system),
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                grammar=_grammar(request.grammar),
                repeat_penalty=REPEAT_PENALTY,
                stream=True,
            )
            for chunk in chunks:
                emit(chunk["choices"][0]["delta"].get("content") or "")
                if self._must_stop():
                    break
        except (ValueError, RuntimeError) as error:
            if not self._must_stop():
                raise self._failure(error) from error
            model.reset()
        if job.is_late and not job.cancelled.is_set():
            raise DecoderFailed(
                f"{self.name} did not finish within {self._timeout:g} s: raise "
                "DECODER_TIMEOUT_SECONDS, or choose a smaller model"
            )

    def _must_stop(self) -> bool:
        return self._job.cancelled.is_set() or self._stopped.is_set() or self._job.is_late

    def _count(self, text: str) -> int:
        return len(self._load().tokenize(text.encode(), add_bos=False, special=False))

    def _load(self) -> Any:
        if self._model is None:
            import llama_cpp  # noqa: PLC0415 - an extra, and slow to import

            try:
                model = llama_cpp.Llama(
                    str(self._path),
                    n_ctx=self._context_tokens,
                    n_threads=THREADS,
                    n_threads_batch=THREADS,
                    verbose=False,
                )
            except (ValueError, RuntimeError, OSError) as error:
                raise DecoderFailed(
                    f"{self._path} cannot be loaded ({error}): give DECODER_MODEL a whole GGUF file"
                ) from error
            asks = ctypes.cast(ctypes.CDLL(None).strlen, llama_cpp.ggml_abort_callback)
            data = ctypes.cast(self._stop_flag.buffer, ctypes.c_void_p)
            llama_cpp.llama_set_abort_callback(model.ctx, asks, data)
            self._model = model
        return self._model

    def _failure(self, error: Exception) -> DecoderFailed:
        if "context window" in str(error):
            return DecoderFailed(
                f"The prompt does not fit into {self._context_tokens} tokens ({error}): raise "
                "DECODER_CONTEXT_TOKENS"
            )
        return DecoderFailed(f"{self.name} failed ({error}): look into the log")


def _grammar(text: str | None) -> Any:
    if text is None:
        return None
    import llama_cpp.llama_grammar  # noqa: PLC0415 - an extra, loaded by now

    return llama_cpp.llama_grammar.LlamaGrammar.from_string(text, verbose=False)


def _raise(work: "Future[None]") -> None:
    """Raise the error of a finished call, if it has one."""
    if not work.cancelled() and (error := work.exception()) is not None:
        raise error
