"""Rust."""

from ctx_indexer.languages.protocol import Language

LANGUAGES = (Language(name="rust", extensions="rs"),)
