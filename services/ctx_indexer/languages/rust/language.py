"""Rust."""

from ctx_indexer.languages.protocol import Language, Tests
from ctx_indexer.languages.rust.macros import unwrapped
from ctx_indexer.languages.rust.symbols import RUST

# `cfg(any(test, …))` and `cfg(not(test))` are compiled elsewhere, too.
_INLINE = (
    r"#!?\[\s*(?:cfg\s*\(\s*(?:test\s*\)|all\s*\((?:[^()]*,)?\s*test\b)"
    r"|(?:\w+::)*(?:test|bench|rstest|test_case|quickcheck|wasm_bindgen_test)\b)"
)

LANGUAGES = (
    Language(
        name="rust", extensions="rs", symbols=RUST, tests=Tests(inline=_INLINE), unwrap=unwrapped
    ),
)
