"""The shipped static models."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ctx_core.embedding.factory import SHIPPED
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.errors import ModelUnavailable
from ctx_core.settings.models import CODE_MODEL, PROSE_MODEL

MAX_FOLDER_BYTES = 16 * 1024 * 1024
MEGABYTE = 1024 * 1024

STATIC = [CODE_MODEL, PROSE_MODEL]

TEXTS = [
    "def read_config(path): return json.loads(path.read_text())",
    "class HTTPConnectionPool: keeps sockets open for reuse",
    "The meeting about the release was moved to Thursday.",
    "",
    "SELECT id, name FROM users WHERE active = 1",
]
ODD_TEXTS = [
    "",
    " \n\t ",
    "\x00",
    "a\x00b",
    "🦀",
    "🦀🎉👩‍👩‍👧",
    "\ud800",
    "漢字かな交じり文",
    "x" * 5_000,
    "[CLS] [UNK] [PAD]",
    "\u202e\ufeff",
]


@pytest.fixture(scope="module", params=STATIC)
def embedder(request: pytest.FixtureRequest) -> StaticEmbedder:
    return StaticEmbedder(SHIPPED / request.param)


def similarity(embedder: StaticEmbedder, first: str, second: str) -> float:
    return float(embedder.embed_query(first) @ embedder.embed_query(second))


def test_rows_are_unit_vectors_of_the_stated_size(embedder: StaticEmbedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dims)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_query_is_one_vector(embedder: StaticEmbedder) -> None:
    vector = embedder.embed_query(TEXTS[0])
    assert vector.shape == (embedder.dims,)
    assert vector.dtype == np.float32


def test_no_texts_give_no_rows(embedder: StaticEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dims)


def test_two_loads_give_the_same_vectors(embedder: StaticEmbedder) -> None:
    again = StaticEmbedder(SHIPPED / embedder.name)
    np.testing.assert_array_equal(again.embed_documents(TEXTS), embedder.embed_documents(TEXTS))


def test_batch_equals_single(embedder: StaticEmbedder) -> None:
    many = TEXTS * 120  # more than one batch
    batch = embedder.embed_documents(many)
    single = np.stack([embedder.embed_query(text) for text in TEXTS])
    np.testing.assert_allclose(batch, np.tile(single, (120, 1)), atol=1e-6)


def test_threads_share_one_embedder(embedder: StaticEmbedder) -> None:
    expected = embedder.embed_documents(TEXTS)
    with ThreadPoolExecutor(4) as threads:
        for vectors in threads.map(embedder.embed_documents, [TEXTS] * 16):
            np.testing.assert_allclose(vectors, expected, atol=1e-6)


@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_odd_text_gives_a_unit_vector(embedder: StaticEmbedder, text: str) -> None:
    vector = embedder.embed_query(text)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("unit", ["open the file ", "x", "🦀", "\x00"], ids=ascii)
def test_a_megabyte_gives_a_unit_vector(embedder: StaticEmbedder, unit: str) -> None:
    vector = embedder.embed_query(unit * (MEGABYTE // len(unit)))
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_blank_text_is_far_from_real_text(embedder: StaticEmbedder) -> None:
    real = embedder.embed_documents([text for text in TEXTS if text])
    assert np.abs(real @ embedder.embed_query("")).max() < 0.2


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("delete a file", "remove a document from disk", "paint the house green"),
        ("parse a JSON string", "json.loads(text)", "socket.bind(address)"),
        ("how long to wait for an answer", "def f(timeout): ...", "def f(colour): ..."),
        ("compress data", "def gzip_bytes(raw): ...", "def send_mail(to): ..."),
    ],
)
def test_similar_texts_are_closer(embedder: StaticEmbedder, text: str, near: str, far: str) -> None:
    assert similarity(embedder, text, near) > similarity(embedder, text, far)


@pytest.mark.parametrize(
    "identifier", ["getHTTPResponse", "get_http_response", "GetHttpResponse", "get-http-response"]
)
def test_spelling_of_an_identifier_hardly_matters(
    embedder: StaticEmbedder, identifier: str
) -> None:
    assert similarity(embedder, identifier, "get http response") > 0.9


@pytest.mark.parametrize("name", STATIC)
def test_folder_stays_small(name: str) -> None:
    assert sum(path.stat().st_size for path in (SHIPPED / name).iterdir()) <= MAX_FOLDER_BYTES


@pytest.mark.parametrize("name", STATIC)
def test_description_agrees_with_the_files(name: str) -> None:
    folder = SHIPPED / name
    embedder = StaticEmbedder(folder)
    described = json.loads((folder / "model.json").read_text("utf-8"))
    rows = np.load(folder / "embeddings.npy", mmap_mode="r")
    assert rows.dtype == np.int8
    assert rows.shape == (described["tokens"], described["dims"])
    assert np.load(folder / "scales.npy").shape == (described["tokens"],)
    assert (embedder.name, embedder.dims) == (described["name"], described["dims"])
    assert embedder.name == name
    for file, expected in described["sha256"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == expected


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        (CODE_MODEL, "granite-embedding-30m-english"),
        (PROSE_MODEL, "all-MiniLM-L6-v2"),
    ],
)
def test_attribution_is_shipped(name: str, origin: str) -> None:
    assert "Apache License" in (SHIPPED / name / "LICENSE").read_text("utf-8")
    assert origin in (SHIPPED / name / "NOTICE").read_text("utf-8")


def test_the_model_for_prose_knows_everyday_words() -> None:
    model = StaticEmbedder(SHIPPED / PROSE_MODEL)
    walk = "a dog runs in the park"
    near, far = "puppies play outside", "the bank raised its interest rate"
    assert similarity(model, walk, near) > similarity(model, walk, far) + 0.2


def test_the_code_model_knows_the_words_of_code() -> None:
    model = StaticEmbedder(SHIPPED / CODE_MODEL)
    assert similarity(model, "auth", "authentication") > similarity(model, "auth", "author")
    assert similarity(model, "ctx", "context") > similarity(model, "ctx", "text")


def test_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        StaticEmbedder(tmp_path / "none")


def test_damaged_tokenizer_is_a_clear_error(tmp_path: Path) -> None:
    for path in (SHIPPED / CODE_MODEL).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json"):
        StaticEmbedder(tmp_path)


def test_unknown_format_is_a_clear_error(tmp_path: Path) -> None:
    for path in (SHIPPED / CODE_MODEL).iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.json").write_text('{"format": 99, "name": "x"}', "utf-8")
    with pytest.raises(ModelUnavailable, match="format 99"):
        StaticEmbedder(tmp_path)
