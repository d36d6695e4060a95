"""Which searches of thread entries the settings switch on."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.settings import Settings
from ctx_memory.search.retrievers import FTS, SEMANTIC


@dataclass(frozen=True)
class EnabledSearches:
    """The searches that are offered; a hybrid one needs one of the others."""

    full_text: bool
    semantic: bool
    hybrid: bool

    @classmethod
    def from_settings(cls, settings: Settings) -> "EnabledSearches":
        full_text, semantic = settings.enable_fts, settings.enable_semantic_search
        hybrid = settings.enable_hybrid_search and (full_text or semantic)
        return cls(full_text, semantic, hybrid)

    @property
    def modes(self) -> Sequence[str]:
        """The modes of a hybrid search."""
        on = {FTS: self.full_text, SEMANTIC: self.semantic}
        return [mode for mode, is_on in on.items() if is_on]


ALL_SEARCHES = EnabledSearches(full_text=True, semantic=True, hybrid=True)
