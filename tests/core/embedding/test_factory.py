"""Opening models by name."""

from pathlib import Path

import pytest

from ctx_core.embedding.factory import open_embedder, open_local, shipped_models
from ctx_core.errors import ModelUnavailable
from ctx_core.settings import Settings
from ctx_core.settings.models import CODE_MODEL, PROSE_MODEL, PROSE_TRANSFORMER
from tests.support import models


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORY_EMBEDDING_MODEL")  # of the tests
    assert (Settings().code_model, Settings().memory_model) == (CODE_MODEL, PROSE_TRANSFORMER)


@pytest.mark.parametrize("default", [CODE_MODEL, PROSE_TRANSFORMER, PROSE_MODEL])
def test_the_named_models_ship(tmp_path: Path, default: str) -> None:
    assert default in shipped_models()
    embedder = open_embedder(default, tmp_path / "cache.sqlite")
    assert embedder.name == default
    assert embedder.embed_query("hello").shape == (embedder.dims,)
    embedder.close()


def test_a_folder_with_a_static_model_is_one(tmp_path: Path) -> None:
    name = models.second_model(tmp_path)
    embedder = open_embedder(name, tmp_path / "cache.sqlite")
    assert (embedder.name, embedder.dims) == (models.NAME, models.DIMS)
    assert embedder.embed_query("hello").shape == (models.DIMS,)
    embedder.close()


def test_an_older_model_is_opened_where_it_is_on_this_machine(tmp_path: Path) -> None:
    [shipped, *_] = shipped_models()
    assert open_local(shipped, tmp_path).name == shipped
    for name in (models.NAME, "BAAI/bge-small-en-v1.5"):  # unknown, and not downloaded
        with pytest.raises(ModelUnavailable):
            open_local(name, tmp_path)
    assert not list(tmp_path.glob("models--*"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BAAI/bge-smal-en", "Near it: .*BAAI/bge-small-en"),
        ("package:no_such_package/model", "install it with pip"),
    ],
)
def test_an_unknown_model_is_an_error_with_the_next_step(
    tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(ModelUnavailable, match=said):
        open_embedder(name, tmp_path / "cache.sqlite")


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match=r"\.onnx files found: none, tokenizer\.json: found"):
        open_embedder(str(tmp_path), tmp_path / "cache.sqlite")


def test_a_process_loads_a_model_once(tmp_path: Path) -> None:
    first = open_local(CODE_MODEL, tmp_path / "one")
    assert open_local(CODE_MODEL, tmp_path / "two") is first
