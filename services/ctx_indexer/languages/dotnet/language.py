"""C# and F#."""

from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(name="csharp", extensions="cs csx"),
    Language(name="fsharp", extensions="fs fsx fsi"),
)
