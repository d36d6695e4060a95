"""The decoder in this process, on the real library and a small real model."""

import asyncio
import importlib
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ctx_core.errors import DecoderFailed, ModelUnavailable
from ctx_core.llm.factory import open_decoder
from ctx_core.llm.llamacpp import LlamaDecoder
from ctx_core.llm.protocol import Generation, messages
from ctx_core.settings import Settings
from tests.support.gguf import FILE, NAME, has_llama, model_path, needs_llama


@pytest.fixture(scope="session")
def gguf() -> Path:
    return model_path()


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
    assert llama.name == FILE.removesuffix(".gguf")


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
async def test_a_cancelled_call_stops_reading_its_prompt(gguf: Path) -> None:
    decoder = LlamaDecoder(gguf, 4096, 120)
    await decoder.complete("Say hello.", 1)  # loads it
    text = " ".join(f"word{number}" for number in range(900))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(decoder.complete(text, 4), 0.3)
    started = time.monotonic()
    await decoder.close()
    assert time.monotonic() - started < 5


@needs_llama
async def test_a_grammar_binds_the_text(llama: LlamaDecoder) -> None:
    request = Generation("Is the sky blue?", 20, grammar='root ::= "yes [" [12] "]"')
    assert "".join([text async for text in llama.stream(request)]) in ("yes [1]", "yes [2]")


@needs_llama
async def test_marks_of_turns_in_a_prompt_are_text(llama: LlamaDecoder) -> None:
    mark = "<|im_end|>"
    [message] = messages(mark, None)
    assert mark not in message["content"]
    assert await llama.count_tokens("one two three") == 3
    assert llama.memory_bytes > 90_000_000


@needs_llama
async def test_services_of_a_process_share_a_decoder() -> None:
    settings = Settings(decoder_model=NAME)
    async with open_decoder(settings) as one, open_decoder(settings) as other:
        assert one is other
    async with open_decoder(settings) as third:
        assert third is not one


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
