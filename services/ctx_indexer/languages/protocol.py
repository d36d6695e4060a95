"""A language, as data and functions: everything that the rest of the indexer knows of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ctx_indexer.syntax.symbols.spec import SymbolSpec

UNKNOWN = "text"  # the language of files that no language claims
Title = tuple[int, int, str]  # of prose: its line from 0, its level from 1, its words


class SyntaxNode(Protocol):
    """A node of a parser's tree."""

    @property
    def type(self) -> str: ...
    @property
    def children(self) -> Sequence["SyntaxNode"]: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...


class SyntaxTree(Protocol):
    """The tree of one text, by whichever parser."""

    @property
    def root_node(self) -> SyntaxNode: ...


class Kind(StrEnum):
    """The use of a language."""

    CODE = "code"
    DATA = "data"
    CONFIGURATION = "configuration"
    MARKUP = "markup"  # documentation where its folder or name says so
    PROSE = "prose"
    TEXT = "text"  # prose, or anything else


@dataclass(frozen=True, kw_only=True)
class Tests:
    """Signs of a test in one language; the folder `tests` is a sign in every one."""

    prefixed: bool = False  # a file `test_x` is a test; of other languages it may run tests
    suffixed: str = ""  # extensions of files that are tests where named `FooTest` or `FooSpec`
    capitalised: str = ""  # extensions of files that are tests where named `TestFoo`
    paths: str = ""  # a pattern of the paths of further tests: conftest.py
    package: bool = False  # below the top, a folder `test` is the program's own: django/test/
    # A pattern that marks a definition, in the lines from its first attribute to its name.
    inline: str = ""


@dataclass(frozen=True)
class Scripts:
    """Scripts of another language inside a text, and a function that finds their spans."""

    language: str
    spans: Callable[[str], Iterator[tuple[int, int]]]


def any_text(content: bytes) -> bool:
    """Accept a text that no other language does: `x.h` is C unless it is C++ or Objective-C."""
    return True


@dataclass(frozen=True, kw_only=True)
class Language:
    """One language. Words stand in one text: `extensions="py pyi"`; patterns ignore case."""

    name: str
    kind: Kind = Kind.CODE
    # Raised whenever chunks, definitions or symbols of its unchanged files change: the next index
    # run writes the files of this language again.
    revision: int = 0

    # --- its files
    aliases: str = ""  # other names that people use, beside its extensions
    extensions: str = ""
    file_names: str = ""
    suffixed_names: str = ""  # file names that may have a suffix: Dockerfile.dev
    interpreters: str = ""  # named in the first line of a script: #!/usr/bin/env python3
    modes: str = ""  # names that editors use beside its name: `-*- C++ -*-`
    # An extension that other languages share → whether a text is of this one. Languages of a family
    # are asked in their order, `any_text` last.
    contents: Mapping[str, Callable[[bytes], bool]] = field(default_factory=dict)
    tests: Tests = Tests()
    configuration: str = ""  # a pattern of paths: settings.py
    generated: str = ""  # a pattern of paths: x_pb2.py
    in_pages: bool = False  # browsers load it: a folder `vendors` holds code of others

    # --- its text
    prepare: Callable[[bytes], bytes] | None = None  # blanks parts that the grammar misreads
    repairs: Sequence[Callable[[bytes], bytes]] = ()  # blank causes of errors, the gentlest first
    dropped_lines: int = 0  # the most lines that are blanked because an error begins in them
    # Blanks macros around code; the function that it is given tells whether a part is sound code.
    unwrap: Callable[[bytes, SyntaxTree, Callable[[bytes], bool]], bytes] | None = None
    max_parsed: int = 0  # the most characters that are parsed; 0: as many as of other languages
    titles: Callable[[Sequence[str]], Iterator[Title]] | None = None  # finds titles in lines
    scripts: Scripts | None = None
    symbols: SymbolSpec | None = None  # only a language that has it has its calls resolved
