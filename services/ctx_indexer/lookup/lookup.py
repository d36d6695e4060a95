"""Exact look-ups in the files of a view, always as they are on disk."""

from dataclasses import dataclass

from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.lookup.definitions import Definitions
from ctx_indexer.lookup.exact import ExactSearch
from ctx_indexer.lookup.files import ReadFiles
from ctx_indexer.lookup.located import HitLocator
from ctx_indexer.lookup.selection import IndexedFiles
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.manifest.files import FileTable


@dataclass(frozen=True)
class Lookup:
    """The look-ups of one server: strings, definitions by name, files by path, hits of a search."""

    exact: ExactSearch
    definitions: Definitions
    files: ReadFiles
    hits: HitLocator

    @classmethod
    def over(cls, files: FileTable, store: VectorStore, texts: FileTexts) -> "Lookup":
        """Build the look-ups over the files of the manifest; all share one cache of texts."""
        indexed = IndexedFiles(files, store)
        return cls(
            ExactSearch(indexed, texts),
            Definitions(indexed, store, texts),
            ReadFiles(indexed, texts),
            HitLocator(texts),
        )
