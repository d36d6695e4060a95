"""Swift."""

from ctx_indexer.languages.protocol import Language, Tests

LANGUAGES = (
    Language(
        name="swift",
        extensions="swift",
        interpreters="swift",
        tests=Tests(suffixed="swift", inline=r"^\s*@(?:Test|Suite)\b"),
        configuration=r"(?:^|/)Package\.swift$",
        generated=r"\.pb\.swift$",
    ),
)
