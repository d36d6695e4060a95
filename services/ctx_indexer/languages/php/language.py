"""PHP."""

from ctx_indexer.languages.php.symbols import PHP
from ctx_indexer.languages.protocol import Language, Tests

LANGUAGES = (
    Language(
        name="php",
        extensions="php phtml php5 inc",
        interpreters="php",
        symbols=PHP,
        tests=Tests(prefixed=True, suffixed="php", inline=r"^\s*#\[(?:\w*\\)*Test\b"),
        configuration=r"(?:^|/)config/.*(?-i:\.php)$",
    ),
)
