"""PHP."""

from ctx_indexer.languages.php.symbols import PHP
from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(
        name="php",
        extensions="php phtml php5 inc",
        interpreters="php",
        symbols=PHP,
    ),
)
