"""C# and F#."""

import re

from ctx_indexer.languages.directives import without_directives
from ctx_indexer.languages.dotnet.symbols import CSHARP
from ctx_indexer.languages.protocol import Language, Tests
from ctx_indexer.syntax.blanks import blank

_REF_STRUCT = re.compile(rb"\bref(?=\s{1,20}(?:partial\s{1,20})?struct\b)")


def _without_ref(source: bytes) -> bytes:
    """Blank the modifier that the grammar does not know: `ref struct Reader` → `struct Reader`."""
    return blank(source, [match.span() for match in _REF_STRUCT.finditer(source)])


LANGUAGES = (
    Language(
        name="csharp",
        aliases="c#",
        extensions="cs csx",
        symbols=CSHARP,
        tests=Tests(
            suffixed="cs",
            capitalised="cs",
            inline=r"^\s*\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod)\b",
        ),
        generated=r"\.g\.cs$|\.designer\.cs$",
        prepare=_without_ref,
        repairs=[without_directives],
    ),
    Language(name="fsharp", aliases="f#", extensions="fs fsx fsi"),
)
