"""A commit as a Qdrant point, and the spec of a collection of them."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from ctx_core.embedding.protocol import Embedder
from ctx_core.text import bm25
from ctx_core.vectors.points import Point
from ctx_core.vectors.queries import Filter, Match, MatchAny
from ctx_core.vectors.specs import BM25, DENSE, CollectionSpec, IndexKind, NamedModel, hybrid_spec
from ctx_indexer.history.commits import Commit

PURPOSE = "history"
SUFFIX = "-history"  # after the name of the collection of code
HISTORY_VERSION = 2  # raised when points of the same commit change
REPO, PATHS = "repo", "paths"
INDEXES = {REPO: IndexKind.KEYWORD, PATHS: IndexKind.KEYWORD}
UUID_BYTES = 16
MAX_PATHS = 400  # of a commit that filters compare: its files and the folders above them
MAX_TEXT = 3_000  # characters that are embedded


def spec(model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of commits."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSE,
        rebuild_command="ctx index",
        model_setting="EMBEDDING_MODEL",
    )


def commit_id(repo: str, commit: str) -> str:
    """Return the id of a commit's point: writing it again changes nothing."""
    named = f"{HISTORY_VERSION}\0{repo}\0{commit}".encode()
    return str(UUID(bytes=blake2b(named, digest_size=UUID_BYTES).digest()))


def commit_points(repo: str, commits: Sequence[Commit], embedder: Embedder) -> list[Point]:
    """Embed commits as points. Blocks."""
    texts = [_text(each) for each in commits]
    rows = embedder.embed_documents([text[:MAX_TEXT] for text in texts])
    return [
        Point(
            commit_id(repo, commit.id),
            {DENSE: row.tolist(), BM25: bm25.document_vector(text)},
            _payload(repo, commit),
        )
        for commit, text, row in zip(commits, texts, rows, strict=True)
    ]


def decode_commit(payload: Mapping[str, Any]) -> Commit:
    """Read a commit from its payload."""
    return Commit(
        id=payload["commit"],
        author=payload["author"],
        date=payload["date"],
        message=payload["message"],
        files=tuple(payload["files"]),
        symbols=tuple(payload["symbols"]),
    )


def history_filter(repos: Sequence[str], path: str | None = None) -> Filter:
    """Select the commits of repos, only of a file or folder where one is given."""
    of_repos = MatchAny(REPO, list(repos))
    return Filter(must=[of_repos, Match(PATHS, path)] if path else [of_repos])


def _text(commit: Commit) -> str:
    """Return the text that is searched: the message, then the files and symbols that changed."""
    return "\n".join([commit.message, " ".join(commit.symbols), " ".join(commit.files)])


def _payload(repo: str, commit: Commit) -> dict[str, Any]:
    return {
        REPO: repo,
        PATHS: _paths(commit.files),
        "commit": commit.id,
        "author": commit.author,
        "date": commit.date,
        "message": commit.message,
        "files": list(commit.files),
        "symbols": list(commit.symbols),
    }


def _paths(files: Sequence[str]) -> list[str]:
    paths: dict[str, None] = dict.fromkeys(files)
    for file in files:
        paths.update(dict.fromkeys(str(each) for each in PurePosixPath(file).parents))
    paths.pop(".", None)
    return list(paths)[:MAX_PATHS]
