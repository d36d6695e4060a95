"""An inquiry: a question, and the hits of a code search for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctx_indexer.lookup.located import LocatedHits
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.view.view import View


@dataclass(frozen=True)
class Inquiry:
    """A question, and the hits of a code search for it."""

    view: View
    query: ParsedQuery
    located: LocatedHits
    degraded: Sequence[str] = ()

    @property
    def hits(self) -> list[SearchHit]:
        return [hit for hit, _ in self.located.hits]
