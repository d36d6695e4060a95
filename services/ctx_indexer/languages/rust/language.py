"""Rust, and calls of its macros around items: `cfg_net! { fn connect() {} }`."""

import re
from collections.abc import Callable, Iterator

from ctx_indexer.languages.protocol import Language, SyntaxNode, SyntaxTree, Tests
from ctx_indexer.languages.rust.symbols import RUST
from ctx_indexer.syntax.blanks import blank, merged_spans

# `cfg(any(test, …))` and `cfg(not(test))` are compiled elsewhere, too.
_INLINE = (
    r"#!?\[\s*(?:cfg\s*\(\s*(?:test\s*\)|all\s*\((?:[^()]*,)?\s*test\b)"
    r"|(?:\w+::)*(?:test|bench|rstest|test_case|quickcheck|wasm_bindgen_test)\b)"
)
_ITEM = re.compile(rb"\b(?:fn|struct|enum|impl|trait|mod|type|const|static)\s")


def _unwrapped(source: bytes, tree: SyntaxTree, is_sound: Callable[[bytes], bool]) -> bytes:
    """Blank the names and braces of macro calls around sound items: `cfg_net! { fn … }`."""
    spans = []
    for node in _item_macros(tree):
        body = node.children[-1]
        start, end = body.start_byte + 1, body.end_byte - 1
        if _ITEM.search(source, start, end) and is_sound(source[start:end]):
            spans += [(node.start_byte, start), (end, end + 1)]
    return blank(source, merged_spans(spans))


def _item_macros(tree: SyntaxTree) -> Iterator[SyntaxNode]:
    """Yield macro calls with braces that stand where items do."""
    pending = [tree.root_node]
    while pending:
        for node in pending.pop().children:
            if node.type == "mod_item":
                pending += [child for child in node.children if child.type == "declaration_list"]
            call = node.children[0] if node.type == "expression_statement" else node
            if call.type != "macro_invocation":
                continue
            body = call.children[-1]
            if body.type == "token_tree" and body.children[0].type == "{":
                yield call


LANGUAGES = (
    Language(
        name="rust", extensions="rs", symbols=RUST, tests=Tests(inline=_INLINE), unwrap=_unwrapped
    ),
)
