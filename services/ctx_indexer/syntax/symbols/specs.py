"""The languages that have symbol tables."""

from collections.abc import Mapping

from ctx_indexer.syntax.symbols.compiled import CPP, CSHARP, GO, JAVA, KOTLIN, RUST, C
from ctx_indexer.syntax.symbols.languages import SymbolSpec
from ctx_indexer.syntax.symbols.scripting import JAVASCRIPT, PHP, PYTHON, RUBY, TYPESCRIPT

SPECS: Mapping[str, SymbolSpec] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TYPESCRIPT,
    "go": GO,
    "java": JAVA,
    "kotlin": KOTLIN,
    "csharp": CSHARP,
    "rust": RUST,
    "c": C,
    "cpp": CPP,
    "ruby": RUBY,
    "php": PHP,
}
