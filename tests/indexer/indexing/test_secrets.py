"""Secrets of a workspace: nothing of them is embedded, stored or shown."""

import json
from dataclasses import replace

from ctx_core.vectors.points import Point
from ctx_core.vectors.specs import BM25, DENSE
from ctx_indexer.schema.payload import decode
from scripts.bench.corpora.planted_secrets import planted
from tests.indexer.conftest import REPO, Bench
from tests.support.repositories import Repository

LEFT = 8  # characters of a secret that must not be found
TOKEN = "gl" + "pat-" + "Zx81kPq04mWvT7sNd2Lc"


async def test_planted_secrets_are_not_indexed(bench: Bench, repository: Repository) -> None:
    corpus = {each.path: each for each in planted(each=3)}
    for each in corpus.values():
        repository.write(each.path, each.text)
    report = await bench.index(repository.root)
    texts = await bench.texts()
    leaked = [
        path
        for path, text in texts.items()
        for at in range(max(1, len(corpus[path].secret) - LEFT + 1))
        if corpus[path].secret[at : at + LEFT] in text
    ]
    assert leaked == []
    embedded = "\n".join(bench.model.computed)
    assert not any(each.secret in embedded for each in corpus.values())
    assert sum(report.redacted.values()) >= len(texts)
    missing = set(corpus) - set(texts)
    assert report.skipped["secret"] + len(texts) == len(corpus), (report, missing)


async def test_lines_and_symbols_stay(bench: Bench, repository: Repository) -> None:
    code = f'def connect():\n    return open_session("{TOKEN}")\n\n\ndef close():\n    pass\n'
    repository.write("a.py", code)
    report = await bench.index(repository.root)
    (chunk,) = (await bench.chunks()).values()
    assert chunk.text.splitlines()[1] == '    return open_session("[redacted: GitLab token]")'
    assert (chunk.start_line, chunk.end_line) == (1, 6)
    assert chunk.symbols == ("connect", "close")
    assert report.redacted == {"GitLab token": 1}


async def test_chunks_that_are_copied_lose_their_secrets(
    bench: Bench, repository: Repository
) -> None:
    """An earlier version stored them; the workspace of that repo may be gone."""
    repository.write("a.py", f"session = open_session('{'x' * 20}')\n")
    await bench.index(repository.root, repo="other")
    page, _ = await bench.store.scroll(bench.collection, limit=10, vectors=[DENSE, BM25])
    (record,) = page
    chunk = replace(decode(record.payload), text=f"session = open_session('{TOKEN}')")
    await bench.store.upsert(
        bench.collection, [Point(record.id, dict(record.vectors), chunk.encode())]
    )
    await bench.index(repository.root, repo=REPO, recreate=True)
    (copied,) = (await bench.chunks("other")).values()
    assert copied.text == "session = open_session('[redacted: GitLab token]')"
    assert TOKEN not in json.dumps(copied.encode())
