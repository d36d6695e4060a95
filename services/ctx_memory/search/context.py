"""Gathers the candidates of a ranking: retrieved entries, their neighbours, all their scores."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from ctx_core.ranking.scoring import REACH, Candidate
from ctx_core.vectors.points import Vector
from ctx_core.vectors.specs import BM25, DENSE
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria
from ctx_memory.records.passages import Passage
from ctx_memory.search.entry_search import EntryHit, EntrySearch

Line = Mapping[int, int]  # the entries beside one in its thread: distance → id, negative before it


class CandidateReader:
    """Reads candidates of a ranking: texts and order from SQL, scores from Qdrant."""

    def __init__(self, records: EntryRecords, entry_search: EntrySearch) -> None:
        self._records = records
        self._entry_search = entry_search

    async def read(
        self,
        vectors: Mapping[str, Vector],
        found: Mapping[str, Sequence[EntryHit]],
        criteria: Criteria,
    ) -> dict[int, Candidate]:
        """Return the found entries and those beside them by id, each scored by every vector.

        A found entry whose uuid is another one in SQL is left out: after a database was restored,
        an id may belong to another entry.
        """
        hits = {hit.id: hit for each in found.values() for hit in each}
        neighbours, passages = await self._records.surroundings(list(hits), criteria, REACH)
        beside = lines(neighbours)
        known = [
            each
            for each in passages.values()
            if each.id not in hits or hits[each.id].uuid in (None, each.uuid)
        ]
        scores = await self._scores(vectors, found, known)
        return {
            each.id: Candidate(
                id=each.id,
                text=each.text,
                words=scores[BM25].get(each.id, 0.0),
                cosine=scores[DENSE].get(each.id),
                is_shown=each.is_shown,
                day=datetime.fromisoformat(each.created_at).date(),
                beside=beside.get(each.id, {}),
            )
            for each in known
        }

    async def _scores(
        self,
        vectors: Mapping[str, Vector],
        found: Mapping[str, Sequence[EntryHit]],
        passages: Sequence[Passage],
    ) -> dict[str, dict[int, float]]:
        """Return by vector and id the scores of these entries, asking for those not found yet."""
        scores = {
            name: {hit.id: hit.score for hit in found.get(name, ())} for name in (BM25, DENSE)
        }
        missing = {
            name: [each for each in passages if each.id not in scores[name]] for name in vectors
        }
        asked = await self._entry_search.score(vectors, missing)
        return {name: scores[name] | asked.get(name, {}) for name in scores}


def lines(neighbours: Mapping[int, Line]) -> dict[int, dict[int, int]]:
    """Return the entries beside each found entry and beside each of its neighbours.

    Of a neighbour those are known that stand in the line of a found entry.
    """
    beside: dict[int, dict[int, int]] = defaultdict(dict)
    for id_, line in neighbours.items():
        places = {**line, 0: id_}
        for place, each in places.items():
            for other_place, other in places.items():
                distance = other_place - place
                if distance and abs(distance) <= REACH:
                    beside[each][distance] = other
    return dict(beside)
