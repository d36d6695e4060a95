"""Cross-encoders: opened by name or folder, and a real one where there is one."""

import os
from pathlib import Path

import pytest

from ctx_core.errors import ModelUnavailable
from ctx_core.rerank.reranker import OnnxReranker, open_reranker

MODEL = os.environ.get("RERANK_TEST_MODEL")


def test_no_model_no_reranker_and_a_wrong_name_is_an_error(tmp_path: Path) -> None:
    assert open_reranker(None, tmp_path) is None
    with pytest.raises(ModelUnavailable, match=r"rerank model Xenova/ms-marco.*Near it"):
        open_reranker("Xenova/ms-marco-MiniLM", tmp_path)
    with pytest.raises(ModelUnavailable, match=r"rerank model .*tokenizer\.json: missing"):
        open_reranker(str(tmp_path), tmp_path)


@pytest.mark.skipif(not MODEL, reason="RERANK_TEST_MODEL names no folder with a cross-encoder")
def test_a_real_cross_encoder() -> None:
    texts = ["class Colour: red = 1", "def retry(call): sleep with exponential backoff"]
    far, near = OnnxReranker("real", Path(str(MODEL))).score("retry with backoff", texts)
    assert 0.0 <= far < near <= 1.0
