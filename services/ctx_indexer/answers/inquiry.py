"""An inquiry: a question, and what a code search found for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctx_indexer.lookup.located import LocatedHits
from ctx_indexer.lookup.scope import PathScope
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit


@dataclass(frozen=True)
class Inquiry:
    """A question, and the hits of a code search for it."""

    collection: str
    query: ParsedQuery
    located: LocatedHits
    scope: PathScope
    degraded: Sequence[str] = ()

    @property
    def hits(self) -> list[SearchHit]:
        return [hit for hit, _ in self.located.hits]

    @property
    def filters(self) -> SearchFilters:
        """The checkouts that the question is about, and nothing narrower."""
        return self.scope.narrow(SearchFilters())
