"""`context_search`: the best lines of a project's knowledge."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_core.errors import CtxError, SearchFailed
from ctx_core.ranking.calibration import Calibration, calibration
from ctx_core.text.tokens import terms as token_terms
from ctx_core.vectors.points import Hit
from ctx_memory.knowledge.entry import Scope
from ctx_memory.knowledge.search.blocks import Block
from ctx_memory.knowledge.search.documents import Document, Documents
from ctx_memory.knowledge.search.index import BLOCK, DIGEST, FILE, KnowledgeIndex

log = logging.getLogger(__name__)

MAX_RESULTS = 20  # an agent reads them all, and the best come first
CANDIDATES = 60  # blocks of each kind of search
# A score is a sum of three shares, each of 1.
MEANING, WORDS, LINE = 0.5, 0.3, 0.2
MIN_SCORE = 0.05  # a similarity of 0.1 without a common word; below it a result is noise
HEADING_GAIN, PHRASE_GAIN = 1.5, 2.0  # a line that is a heading, or has the query word for word


class KnowledgeHit(TypedDict):
    """One line that a search found."""

    key: str
    file: str
    line: int
    text: str
    score: float
    scope: NotRequired[str]
    degraded: NotRequired[str]


@dataclass
class _Candidate:
    document: Document
    block: Block
    meaning: float = 0.0
    words: float = 0.0


class KnowledgeSearcher:
    """Searches one project: blocks by Qdrant, and lines that hold the words themselves.

    A process that has no Qdrant has no index.
    """

    def __init__(self, documents: Documents, index: KnowledgeIndex | None) -> None:
        self._documents = documents
        self._index = index

    async def search(self, query: str) -> list[KnowledgeHit]:
        """Return the best lines. Without Qdrant words alone decide, and each result says so."""
        terms = _words(query)
        if not terms:
            return []
        documents = await self._documents.all()
        candidates = _lines_with_words(documents, terms)
        problem = ""
        try:
            if self._index is None:
                raise SearchFailed("this process has no search index")
            found = await self._index.candidates(self._documents, query, CANDIDATES)
        except CtxError as error:
            log.warning("knowledge is searched by words alone: %s", error)
            problem = f"words only: {error.message}"
            if not candidates:
                raise
        else:
            _add(candidates, documents, calibration(self._index.model), *found)
        hits = [_hit(candidate, terms, problem) for candidate in candidates.values()]
        good = [hit for hit in hits if hit["score"] >= MIN_SCORE]
        good.sort(key=lambda hit: (-hit["score"], hit["file"], hit["line"]))
        return good[:MAX_RESULTS]


def _words(query: str) -> list[str]:
    """Return the words of a query without stop words, unless it has no others."""
    words = query.lower().split()
    return [word for word in words if token_terms(word)] or words


Candidates = dict[tuple[str, int], _Candidate]


def _lines_with_words(documents: Mapping[str, Document], terms: Sequence[str]) -> Candidates:
    """Every block that holds one of the terms, also as a part of a word."""
    return {
        (file, number): _Candidate(document, block)
        for file, document in documents.items()
        for number, block in enumerate(document.blocks)
        if any(term in block.text.lower() for term in terms)
    }


def _add(
    candidates: Candidates,
    documents: Mapping[str, Document],
    calibrated: Calibration,
    meaning: Iterable[Hit],
    words: Sequence[Hit],
) -> None:
    """Add the hits of Qdrant whose documents have not changed since."""
    best = max((hit.score for hit in words), default=0.0)
    for hit in meaning:
        if candidate := _candidate(candidates, documents, hit):
            candidate.meaning = calibrated.similarity(hit.score)
    for hit in words:
        if candidate := _candidate(candidates, documents, hit):
            candidate.words = hit.score / best if best else 0.0


def _candidate(
    candidates: Candidates, documents: Mapping[str, Document], hit: Hit
) -> _Candidate | None:
    document = documents.get(hit.payload[FILE])
    if document is None or document.digest != hit.payload[DIGEST]:
        return None
    number = hit.payload[BLOCK]
    block = document.blocks[number]
    return candidates.setdefault((document.file, number), _Candidate(document, block))


def _hit(candidate: _Candidate, terms: Sequence[str], problem: str) -> KnowledgeHit:
    """The block's best line, and its score as a share of the best possible one."""
    lines = [line for line in enumerate(candidate.block.text.splitlines()) if line[1].strip()]
    share, offset, text = max(
        ((_share(line, terms), -number, line) for number, line in lines), key=lambda each: each[:2]
    )
    score = (
        share if problem else (MEANING * candidate.meaning + WORDS * candidate.words + LINE * share)
    )
    hit: KnowledgeHit = {
        "key": candidate.document.key,
        "file": candidate.document.file,
        "line": candidate.block.line - offset,
        "text": text.strip(),
        "score": round(score, 4),
    }
    if candidate.document.scope is not Scope.PUBLIC:
        hit["scope"] = candidate.document.scope.value
    if problem:
        hit["degraded"] = problem
    return hit


def _share(line: str, terms: Sequence[str]) -> float:
    """How well a line holds the words themselves, from 0 to 1."""
    lower = line.lower()
    share = sum(term in lower for term in terms) / len(terms)
    share *= HEADING_GAIN if re.match(r"#{1,6}\s", line) else 1.0
    share *= PHRASE_GAIN if " ".join(terms) in " ".join(lower.split()) else 1.0
    return share / (HEADING_GAIN * PHRASE_GAIN)
