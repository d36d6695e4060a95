"""The history of repos: indexed when it is asked for, and searched by words and meaning."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.batches import batches
from ctx_core.blocking import COMPUTE, GIT
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import GitFailed, InvalidInput, ModelMismatch
from ctx_core.text import bm25
from ctx_core.text.tokens import text_terms
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, HasId, Query
from ctx_core.vectors.specs import BM25, DENSE
from ctx_indexer.history.commits import (
    BATCH,
    Commit,
    commits_of,
    head_of,
    read_commits,
    recent_ids,
)
from ctx_indexer.history.points import (
    REPO,
    SUFFIX,
    commit_id,
    commit_points,
    decode_commit,
    history_filter,
    spec,
)
from ctx_indexer.view.view import ALL_REPOS, View

log = logging.getLogger(__name__)

DEFAULT_COMMITS = 2_000
DEPTH = 100  # candidates by each vector
MAX_WHY = 6  # reasons of a hit that are named


@dataclass(frozen=True)
class CommitHit:
    """A commit, its repo, its score from 0 to 1, and the parts of it that have query words."""

    repo: str
    commit: Commit
    score: float
    why: Sequence[str]


@dataclass(frozen=True)
class FoundCommits:
    """The best commits, how many were searched, and in which repos.

    `problems` name the repos whose history cannot be read.
    """

    hits: Sequence[CommitHit]
    searched: int
    problems: Sequence[str]
    repos: Sequence[str] = ()


class History:
    """Keeps the newest commits of repos in a collection beside the one of their code.

    A point's id comes from its commit, so that a run that was cut short is finished by the next,
    and commits that an amend or a rebase replaced are deleted.
    """

    def __init__(
        self, store: VectorStore, embedder: Embedder, max_commits: int = DEFAULT_COMMITS
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._max_commits = max_commits
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._heads: dict[tuple[str, str], str] = {}

    async def search(self, view: View, query: str, path: str | None, limit: int) -> FoundCommits:
        """Find commits of a view's repos, after bringing their histories up to date.

        Raises InvalidInput for a repo that is not indexed, or a path of none.
        """
        roots, inside = _places(view, path)
        name = f"{view.collection}{SUFFIX}"
        problems = []
        for repo, root in roots.items():
            try:
                async with self._locks[name]:
                    await self._update(name, repo, root)
            except GitFailed as error:
                problems.append(f"{repo}: {error.message}")
        known = [repo for repo in roots if (name, repo) in self._heads]
        if not known:
            return FoundCommits((), 0, problems, [*roots])
        where = history_filter(known, inside)
        searched = await self._store.count(name, history_filter(known))
        hits = await self._hits(name, query, where, limit)
        return FoundCommits(hits, searched, problems, [*roots])

    async def of_path(self, root: Path, path: str, count: int) -> list[Commit]:
        """Return the newest commits that touched a file. Raises GitFailed."""
        return await GIT.run(commits_of, root, path, count)

    async def _update(self, name: str, repo: str, root: Path) -> None:
        """Write the commits that are missing, and delete commits that left the newest.

        Raises GitFailed.
        """
        head = await GIT.run(head_of, root)
        if self._heads.get((name, repo)) == head:
            return
        await self._ensure(name)
        ids = await GIT.run(recent_ids, root, self._max_commits)
        points = {commit_id(repo, each): each for each in ids}
        present: set[str] = set()
        for batch in batches(list(points), BATCH):
            records = await self._store.retrieve(name, batch, fields=[])
            present.update(record.id for record in records)
        missing = [commit for id_, commit in points.items() if id_ not in present]
        pages = read_commits(root, missing)
        while (page := await GIT.run(next, pages, None)) is not None:
            written = await COMPUTE.run(commit_points, repo, page, self._embedder)
            await self._store.upsert(name, written)
        gone = Filter(must=history_filter([repo]).must, must_not=[HasId(list(points))])
        await self._store.delete(name, gone)
        self._heads[name, repo] = head

    async def _ensure(self, name: str) -> None:
        """Create the collection; one of another model is made anew, for git has all it holds."""
        wanted = spec(self._embedder)
        try:
            await self._store.ensure_collection(name, wanted)
        except ModelMismatch:
            log.warning("the history in %s is of another model: it is indexed again", name)
            await self._store.delete_collection(name)
            await self._store.ensure_collection(name, wanted)

    async def _hits(self, name: str, query: str, where: Filter, limit: int) -> list[CommitHit]:
        dense = (await COMPUTE.run(self._embedder.embed_query, query)).tolist()
        asked = [Query(DENSE, dense, DEPTH, filter=where)]
        lexical = bm25.query_vector(query)
        if lexical.indices:
            asked.append(Query(BM25, lexical, DEPTH, filter=where))
        pages = await self._store.query_batch(name, asked)
        scores: dict[str, float] = defaultdict(float)
        payloads = {}
        for page in pages:
            best = max((hit.score for hit in page), default=0.0)
            for hit in page:
                payloads[hit.id] = hit.payload
                scores[hit.id] += max(hit.score, 0.0) / best / len(pages) if best > 0 else 0.0
        terms = frozenset(text_terms(query))
        found = [
            (scores[id_], payload[REPO], decode_commit(payload))
            for id_, payload in payloads.items()
        ]
        found.sort(key=lambda each: each[2].date, reverse=True)
        found.sort(key=lambda each: -each[0])
        return [
            CommitHit(repo, commit, round(score, 3), _why(commit, terms))
            for score, repo, commit in found[:limit]
        ]


def _places(view: View, path: str | None) -> tuple[dict[str, Path], str | None]:
    """Return the checkouts to search and the path inside them."""
    every = not view.repos or ALL_REPOS in view.repos
    roots = {repo: root for repo, root in view.roots.items() if every or repo in view.repos}
    if not view.roots:
        raise InvalidInput(
            "collection", f"nothing is indexed in {view.collection!r}; index with qdrant_index"
        )
    if not roots:
        names = ", ".join(sorted(view.roots))
        named = ", ".join(view.repos)
        raise InvalidInput("repo", f"{named} is not indexed; indexed are: {names}")
    if not path or not path.strip():
        return roots, None
    located = [(repo, inside) for repo, inside in view.paths.located(path) if repo in roots]
    if ".." in path.split("/") or not located:
        raise InvalidInput("path", f"{path} is no path of an indexed repository")
    inside = located[0][1]
    return {repo: roots[repo] for repo, each in located if each == inside}, inside or None


def _why(commit: Commit, terms: frozenset[str]) -> list[str]:
    """Return the parts of a commit that have words of the query; by meaning where none has."""
    words = dict.fromkeys(
        word for word in commit.message.split() if terms.intersection(text_terms(word))
    )
    reasons = [f"message: {' '.join(list(words)[:MAX_WHY])}"] if words else []
    for kind, names in (("symbol", commit.symbols), ("file", commit.files)):
        reasons += [f"{kind}: {each}" for each in names if terms.intersection(text_terms(each))]
    return reasons[:MAX_WHY] or ["meaning"]
