"""Opening engines: one store, a model for each server, and advice."""

from pathlib import Path

import pytest

from ctx_core.engine.engine import open_engine, open_engines, prepare_data_dir
from ctx_core.errors import StorageFailed
from ctx_core.settings import Settings
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, hybrid_spec


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


def expected(model: EmbeddingModel) -> CollectionSpec:
    return hybrid_spec(
        model,
        {},
        purpose="samples",
        rebuild_command="rebuild {collection}",
        model_setting="SAMPLE_MODEL",
    )


async def test_both_servers_share_the_store_and_have_their_own_model(settings: Settings) -> None:
    async with open_engines(settings) as engines:
        await engines.code.vectors.ensure_collection(
            "shared", expected(EmbeddingModel(settings.code_model, engines.code.embedder.dims))
        )
        assert [info.name for info in await engines.memory.vectors.list_collections()] == ["shared"]
        assert engines.code.embedder.name == settings.code_model
        assert engines.memory.embedder.name == settings.memory_model
        await engines.code.check_model()
        await engines.memory.check_model()


async def test_a_model_of_both_servers_is_loaded_once(settings: Settings) -> None:
    same = settings.model_copy(update={"memory_embedding_model": settings.code_model})
    async with open_engines(same) as engines:
        assert engines.code.embedder is engines.memory.embedder


async def test_advice_names_each_collection_that_must_be_rebuilt(settings: Settings) -> None:
    async with open_engine(settings, settings.code_model) as engine:
        current = expected(EmbeddingModel(engine.embedder.name, engine.embedder.dims))
        await engine.vectors.ensure_collection("current", current)
        await engine.vectors.ensure_collection("older", expected(EmbeddingModel("other", 8)))
        [advice] = await engine.advice({"current": current, "older": current, "missing": current})
    assert "older was built with model other" in advice
    assert "rebuild older" in advice


def test_the_data_folder_is_private(settings: Settings) -> None:
    prepare_data_dir(settings)
    assert settings.data_dir.stat().st_mode & 0o077 == 0


def test_a_data_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="CTX_DATA_DIR"):
        prepare_data_dir(Settings(data_dir=tmp_path / "file" / "data"))
