"""Rust."""

from ctx_indexer.languages.protocol import Language
from ctx_indexer.languages.rust.symbols import RUST

LANGUAGES = (Language(name="rust", extensions="rs", symbols=RUST),)
