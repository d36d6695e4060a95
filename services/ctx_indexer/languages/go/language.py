"""Go."""

from ctx_indexer.languages.go.symbols import GO
from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(
        name="go",
        aliases="golang",
        extensions="go",
        file_names="go.mod go.work",
        symbols=GO,
        generated=r"\.pb\.go$|\.pb\.gw\.go$|_gen\.go$",
    ),
)
