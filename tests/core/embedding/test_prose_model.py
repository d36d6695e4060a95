"""The shipped transformer for prose."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ctx_core.embedding.description import DESCRIPTION, read_description
from ctx_core.embedding.factory import SHIPPED, BackgroundEmbedder, open_local
from ctx_core.embedding.onnx import OnnxEmbedder
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import ModelUnavailable
from ctx_core.settings.models import PROSE_TRANSFORMER

FOLDER = SHIPPED / PROSE_TRANSFORMER
MAX_FOLDER_BYTES = 36_000_000  # of a clone and of a wheel


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_local(PROSE_TRANSFORMER, Path())


def test_the_description_agrees_with_the_files() -> None:
    described = json.loads((FOLDER / DESCRIPTION).read_text("utf-8"))
    assert set(described["sha256"]) == {"model.onnx", "tokenizer.json"}
    for file, expected in described["sha256"].items():
        assert hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() == expected
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= MAX_FOLDER_BYTES
    assert "Apache License" in (FOLDER / "LICENSE").read_text("utf-8")
    assert "snowflake-arctic-embed-s" in (FOLDER / "NOTICE").read_text("utf-8")


def test_its_name_and_dims_are_known_before_it_is_loaded(embedder: Embedder) -> None:
    assert isinstance(embedder, BackgroundEmbedder)
    assert (embedder.name, embedder.dims) == (PROSE_TRANSFORMER, 384)


def test_a_question_is_nearest_to_its_answer(embedder: Embedder) -> None:
    answers = [
        "The sign-in form belongs to the identity team.",
        "We postponed version 2 because the migration failed.",
        "Our puppy is a brown labrador called Max.",
    ]
    rows = embedder.embed_documents(answers)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    for asked, best in [
        ("Who owns the login page?", 0),
        ("Why was the release delayed?", 1),
        ("What breed is the dog?", 2),
    ]:
        assert int((rows @ embedder.embed_query(asked)).argmax()) == best


def test_a_query_has_the_prefix_that_the_model_was_trained_with(embedder: Embedder) -> None:
    prefix = read_description(FOLDER).query_prefix
    text = "Who owns the login page?"
    [plain, prefixed] = embedder.embed_documents([text, prefix + text])
    asked = embedder.embed_query(text)
    assert float(asked @ prefixed) > 0.98 > float(asked @ plain) + 0.02


def test_long_and_short_texts_come_back_in_their_order(embedder: Embedder) -> None:
    texts = ["a dog " * 2_000, "dog", "", "the bank raised its interest rate", "a cat " * 300]
    together = embedder.embed_documents(texts)
    alone = np.stack([embedder.embed_documents([text])[0] for text in texts])
    assert (alone @ together.T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_a_model_that_cannot_be_loaded_says_so_at_each_use(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    for name in (DESCRIPTION, "tokenizer.json"):
        shutil.copy(FOLDER / name, folder / name)
    broken = open_local(str(folder), tmp_path)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"\.onnx files found: none"):
            broken.embed_query("hello")


@pytest.mark.parametrize("change", [{"pooling": "max"}, {"format": 2}, {"dims": None}])
def test_a_description_that_is_not_understood_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    described = json.loads((FOLDER / DESCRIPTION).read_text("utf-8"))
    (tmp_path / DESCRIPTION).write_text(json.dumps(described | change))
    with pytest.raises(ModelUnavailable, match="reinstall"):
        read_description(tmp_path)


def test_dims_other_than_described_are_refused() -> None:
    wrong = BackgroundEmbedder("wrong", 7, lambda: OnnxEmbedder("wrong", FOLDER))
    with pytest.raises(ModelUnavailable, match="has 384 dims"):
        wrong.embed_query("hello")
