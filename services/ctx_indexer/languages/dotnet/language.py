"""C# and F#."""

from ctx_indexer.languages.dotnet.symbols import CSHARP
from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(name="csharp", extensions="cs csx", symbols=CSHARP),
    Language(name="fsharp", extensions="fs fsx fsi"),
)
