"""A language, as data and functions: everything that the rest of the indexer knows of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ctx_indexer.syntax.symbols.spec import SymbolSpec

UNKNOWN = "text"  # the language of files that no language claims


def any_text(content: bytes) -> bool:
    """Accept a text that no other language does: `x.h` is C unless it is C++ or Objective-C."""
    return True


@dataclass(frozen=True, kw_only=True)
class Language:
    """One language. Lists of words are written as one text: `extensions="py pyi"`."""

    name: str
    extensions: str = ""  # of files: people name the language by them, too
    file_names: str = ""
    suffixed_names: str = ""  # file names that may have a suffix: Dockerfile.dev
    interpreters: str = ""  # in the first line of a script: #!/usr/bin/env python3
    modes: str = ""  # of editors, beside its name: `-*- C++ -*-`
    # Of an extension that other languages have as well: whether a text is of this one. Languages of
    # a family are asked in their order, `any_text` last.
    contents: Mapping[str, Callable[[bytes], bool]] = field(default_factory=dict)
    symbols: SymbolSpec | None = None  # of languages whose calls are resolved
