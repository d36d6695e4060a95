"""Knowledge in Qdrant: one point a block, brought up to date before each search."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import ModelMismatch
from ctx_core.text import bm25
from ctx_core.vectors.points import Hit, Point
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, MatchAny, Query
from ctx_core.vectors.specs import BM25, DENSE, CollectionSpec, IndexKind, hybrid_spec
from ctx_memory.knowledge.entry import Scope
from ctx_memory.knowledge.search.documents import Document, Documents

log = logging.getLogger(__name__)

NAMESPACE = UUID("6d0f9d3e-6a3c-4b0b-9a53-1f6a6e4b3c11")  # of the ids of our points
PROJECT, FILE, DIGEST, BLOCK = "project", "file", "digest", "block"
VERSION = "version"  # the file and its digest together
INDEXES = dict.fromkeys((PROJECT, FILE, VERSION), IndexKind.KEYWORD)
PAGE = 1_000  # points read at once when a server reads the digests
BATCH = 200  # points written at once: the embedded engine holds the process meanwhile
AVERAGE_TERMS = 25  # of a block


def knowledge_spec(embedder: Embedder) -> CollectionSpec:
    """Return the spec of the collection of blocks, built with this model."""
    return hybrid_spec(
        embedder,
        INDEXES,
        purpose="knowledge",
        rebuild_command="any search in a project's knowledge rebuilds it",
        model_setting="MEMORY_EMBEDDING_MODEL",
    )


class KnowledgeIndex:
    """Keeps the blocks of one project's documents in a collection that projects share."""

    def __init__(
        self, vectors: VectorStore, embedder: Embedder, collection: str, project: str
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._collection = collection
        self._project = project
        self._turn = asyncio.Lock()
        self._physical = ""
        self._known: dict[str, str] = {}  # file → digest of the version in the collection

    @property
    def model(self) -> str:
        """The name of the model that compares by meaning."""
        return self._embedder.name

    async def candidates(
        self, documents: Documents, query: str, limit: int
    ) -> tuple[Sequence[Hit], Sequence[Hit]]:
        """Return the nearest blocks by meaning and by words, of documents as they are now.

        Ephemeral documents are left out: they never leave the process.
        """
        async with self._turn:  # read in turn too: an older reading never undoes a newer one
            found = await documents.all()
            lasting = {f: d for f, d in found.items() if d.scope is not Scope.EPHEMERAL}
            await self._update(lasting)
        dense = await COMPUTE.run(self._embedder.embed_query, query)
        ours = Filter(must=[Match(PROJECT, self._project)])
        queries = [Query(DENSE, dense.tolist(), limit, filter=ours)]
        lexical = bm25.query_vector(query)
        if lexical.indices:
            queries.append(Query(BM25, lexical, limit, filter=ours))
        meaning, *words = await self._vectors.query_batch(self._collection, queries)
        return meaning, (words[0] if words else ())

    async def _update(self, documents: Mapping[str, Document]) -> None:
        """Write new blocks, then delete old ones: a search finds each document at every moment."""
        await self._open()
        changed = [d for f, d in documents.items() if self._known.get(f) != d.digest]
        points = await COMPUTE.run(self._points, changed)
        for start in range(0, len(points), BATCH):
            await self._vectors.upsert(self._collection, points[start : start + BATCH])
        gone = [file for file in self._known if file not in documents]
        stale = [document.file for document in changed if document.file in self._known] + gone
        if stale:
            now = [_version(document) for document in changed]
            old = Filter(
                must=[Match(PROJECT, self._project), MatchAny(FILE, stale)],
                must_not=[MatchAny(VERSION, now)] if now else [],
            )
            await self._vectors.delete(self._collection, old)
        self._known = {file: document.digest for file, document in documents.items()}

    async def _open(self) -> None:
        """Create the collection; read the digests of its files where they are not known.

        A collection that another model built is dropped: all of it can be written again.
        """
        spec = knowledge_spec(self._embedder)
        if self._physical and self._physical == await self._vectors.resolve(self._collection):
            return
        try:
            await self._vectors.ensure_collection(self._collection, spec)
        except ModelMismatch as error:
            log.warning("writing the knowledge collection anew: %s", error)
            built = await self._vectors.build(self._collection, spec)
            await self._vectors.swap(self._collection, built)
        self._physical = await self._vectors.resolve(self._collection)
        self._known = await self._stored()

    async def _stored(self) -> dict[str, str]:
        found: dict[str, set[str]] = {}
        ours, offset = Filter(must=[Match(PROJECT, self._project)]), None
        while True:
            rows, offset = await self._vectors.scroll(
                self._collection, where=ours, limit=PAGE, offset=offset
            )
            for row in rows:
                found.setdefault(row.payload[FILE], set()).add(row.payload[DIGEST])
            if offset is None:
                break
        # A file with blocks of two versions was being written when a process ended.
        return {f: digests.pop() if len(digests) == 1 else "" for f, digests in found.items()}

    def _points(self, documents: Sequence[Document]) -> list[Point]:
        blocks = [(document, n) for document in documents for n in range(len(document.blocks))]
        texts = [_text(document, n) for document, n in blocks]
        vectors = self._embedder.embed_documents(texts) if texts else ()
        return [
            Point(
                id=str(uuid5(NAMESPACE, f"{self._project}\0{d.file}\0{d.digest}\0{n}")),
                vectors={
                    DENSE: vector.tolist(),
                    BM25: bm25.document_vector(text, AVERAGE_TERMS),
                },
                payload={
                    PROJECT: self._project,
                    FILE: d.file,
                    DIGEST: d.digest,
                    VERSION: _version(d),
                    BLOCK: n,
                },
            )
            for (d, n), text, vector in zip(blocks, texts, vectors, strict=True)
        ]


def _text(document: Document, number: int) -> str:
    """A block as it is embedded: with its headings and its document's key."""
    return f"{document.key.replace('-', ' ')}\n{document.blocks[number].context}"


def _version(document: Document) -> str:
    return f"{document.file}@{document.digest}"
