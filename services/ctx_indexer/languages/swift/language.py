"""Swift."""

from ctx_indexer.languages.protocol import Language

LANGUAGES = (Language(name="swift", extensions="swift", interpreters="swift"),)
