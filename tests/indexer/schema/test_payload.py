"""The payload of a chunk: encoded, stored, decoded."""

import json
from dataclasses import replace

import pytest

from ctx_core.errors import SearchFailed
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.schema import fields
from ctx_indexer.schema.features import decode_features
from ctx_indexer.schema.payload import ChunkPayload, decode, embedding_text
from ctx_indexer.source.classify import FileFlags
from ctx_indexer.syntax.references import Reference
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository

CHUNK = ChunkPayload(
    repo="shop",
    path="src/net/retry.py",
    language="python",
    kind="class",
    kinds=("class", "method"),
    symbol="Retry",
    symbol_path="net.Retry",
    symbols=("retry", "run"),
    start_line=3,
    end_line=9,
    def_line=4,
    definitions=(DefinitionSpan("net.Retry", "class", 3, 9, 4),),
    imports=(Reference("os", 1),),
    calls=(Reference("sleep", 5), Reference("random", 6)),
    flags=FileFlags(is_test=True, is_generated=True),
    blob="0" * 40,
    modified_at=1.5,
    indexed_at=2.5,
    text="class Retry:\n    ...",
)


def test_encoding_loses_nothing() -> None:
    payload = json.loads(json.dumps(CHUNK.encode()))  # as a store returns it
    assert decode(payload) == CHUNK
    encoded = payload[fields.RANK_FEATURES]
    assert decode_features(CHUNK.repo, CHUNK.path, encoded) == CHUNK.features


def test_filters_find_their_fields() -> None:
    payload = CHUNK.encode()
    assert payload.keys() >= fields.INDEXES.keys() - {fields.MENTIONS}
    first = replace(CHUNK, mentions=("/src/net/retry.py", "sleep"), symbol_table="…").encode()
    assert first.keys() >= fields.INDEXES.keys()
    assert first[fields.MENTIONS] == ["/src/net/retry.py", "sleep"]
    assert payload[fields.FOLDERS] == ["src/net", "src"]
    assert payload[fields.EXTENSION] == "py"
    assert (payload[fields.IS_TEST], payload[fields.IS_CONFIG]) == (True, False)
    assert replace(CHUNK, path="Makefile").encode()[fields.FOLDERS] == []


def test_models_read_the_location_the_symbol_and_the_code() -> None:
    assert embedding_text(CHUNK) == "src/net/retry.py net.Retry\nclass Retry:\n    ..."


@pytest.mark.parametrize("details", [None, "[]", "{}", "not json", '{"unknown": 1}'])
def test_a_payload_of_another_version_asks_for_an_index_run(details: str | None) -> None:
    with pytest.raises(SearchFailed, match="ctx index"):
        decode(CHUNK.encode() | {fields.DETAILS: details})


async def test_a_file_is_stored_as_its_chunks_say(bench: Bench, repository: Repository) -> None:
    repository.write("tests/one.py", "import os\n\nclass Retry:\n    def run(self): os.getcwd()\n")
    report = await bench.index(repository.root)
    [stored] = (await bench.chunks()).values()
    assert (stored.repo, stored.path, stored.language) == (report.repo, "tests/one.py", "python")
    assert (stored.symbol, stored.symbols) == ("Retry", ("retry", "run"))
    assert stored.imports == (Reference("os", 1),)
    assert stored.calls == (Reference("getcwd", 4),)
    assert stored.flags == FileFlags(is_test=True)
    assert stored.indexed_at >= stored.modified_at
