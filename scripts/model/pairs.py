"""Pairs to learn from: what is asked, and the chunk of code that answers it.

Chunks are cut as the indexer cuts them, so that the model learns on what it will read.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctx_indexer.chunking.chunker import Chunk, chunk
from ctx_indexer.source.classify import classify
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax.outline import outline
from scripts.model.comments import Comment, comments, without

MAX_FILE_BYTES = 200_000
MIN_CODE_CHARACTERS = 60  # of a chunk without its comments: less has nothing to find
# A large package must not teach its own dialect.
FILES_PER_PACKAGE = 150
PAIRS_PER_PACKAGE = 1_200
PAIRS_PER_CHUNK = 2  # comments of one chunk that become questions
HIDDEN_SHARE = 0.5  # of the pairs hide the names, which would otherwise do all the work
PROSE = frozenset({"markdown", "rst", "text", "asciidoc", "org"})
DATA = frozenset({"json", "yaml", "toml", "xml", "html", "css", "csv", "ini", "unknown", "sql"})
SKIPPED = frozenset(
    "node_modules vendor vendored _vendor third_party thirdparty 3rdparty external deps dist "
    "site-packages debian build min bundle umd .git __pycache__ fixtures testdata".split(" ")
)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
VAGUE = frozenset(
    "index main init utils util helpers helper common types base core lib src mod module test "
    "tests package setup version constants const self this the".split(" ")
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answer: a chunk of a file, or for a topic the whole file."""

    kind: str
    language: str
    file: str
    chunk: str
    question: str
    code: str

    @property
    def topic(self) -> str:
        """What other pairs about the same have too: they are no wrong answers."""
        return self.file if self.kind == "topic" else self.chunk


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk and where it stands."""

    path: str
    language: str
    number: int
    chunk: Chunk

    @property
    def id(self) -> str:
        return f"{self.path}#{self.number}"

    @property
    def head(self) -> str:
        """What the indexer puts before the text of a chunk."""
        return f"{self.path} {self.chunk.symbol_path}"


def package_pairs(root: Path, seed: str) -> list[Pair]:
    """The pairs of a package, in a fixed order; a large package gives a sample."""
    rng = random.Random(seed)
    sources = list(package_sources(root, FILES_PER_PACKAGE))
    found: list[Pair] = []
    for source in sources:
        found += _commented(source, rng)
        found += _named(source, rng)
    found += _topics(sources, rng)
    found += _tests(sources, rng)
    unique = {(pair.question.lower(), pair.chunk): pair for pair in found}
    pairs = list(unique.values())
    return rng.sample(pairs, PAIRS_PER_PACKAGE) if len(pairs) > PAIRS_PER_PACKAGE else pairs


def package_sources(root: Path, most: int | None = None) -> Iterator[Source]:
    """The chunks of a package, or of so many of its files."""
    paths = [path for path in sorted(root.rglob("*")) if _is_wanted(path, root)]
    if most is not None and len(paths) > most:
        paths = sorted(random.Random(root.name).sample(paths, most))
    for path in paths:
        yield from _file_sources(path, path.relative_to(root).as_posix())


def _is_wanted(path: Path, root: Path) -> bool:
    if not path.is_file() or ".min." in path.name:
        return False
    folders = path.relative_to(root).parts
    return SKIPPED.isdisjoint(folders) and path.stat().st_size <= MAX_FILE_BYTES


def _file_sources(path: Path, name: str) -> Iterator[Source]:
    content = path.read_bytes()
    language = language_of(name, content)
    if language in PROSE | DATA or classify(name, language, content).is_generated:
        return
    try:
        chunks = chunk(outline(content.decode("utf-8"), language))
    except (UnicodeDecodeError, RecursionError):
        return
    for number, each in enumerate(chunks):
        yield Source(name, language, number, each)


def words(name: str) -> list[str]:
    """The words of an identifier."""
    return [part.lower() for part in _PARTS.findall(name)]


# --- what is asked -------------------------------------------------------------------------


def _commented(source: Source, rng: random.Random) -> Iterator[Pair]:
    """A comment asks for the code that it describes."""
    documented = list(comments(source.chunk.text, source.language))
    chosen = (
        documented[:1] + rng.sample(documented[1:], min(len(documented) - 1, PAIRS_PER_CHUNK - 1))
        if documented
        else []
    )
    for comment in chosen:
        code = without(source.chunk.text, [comment])
        if len(code) >= MIN_CODE_CHARACTERS:
            kind = "doc" if _is_documentation(comment, source) else "comment"
            yield _pair(kind, source, comment.says, _shown(source, code, rng))


def _is_documentation(comment: Comment, source: Source) -> bool:
    opened = source.chunk.text[comment.start : comment.start + 40].lstrip()
    return (
        opened.startswith(("/**", "///", '"""', "'''", 'r"""', "@", "-- |")) or comment.start == 0
    )


def _named(source: Source, rng: random.Random) -> Iterator[Pair]:
    """The words of a name ask for its definition, in which the name is hidden."""
    name = source.chunk.symbol
    spoken = words(name)
    if len(spoken) < 2 or classify(source.path, source.language).is_test:
        return
    question = " ".join(spoken)
    owner = source.chunk.symbol_path.removesuffix(name).strip(".:")
    if owner and rng.random() < 0.5:
        question = f"{question} {' '.join(words(owner))}"
    code = _hidden(source.chunk.text, [name])
    if len(code) >= MIN_CODE_CHARACTERS:
        yield _pair("name", source, question, code)


def _topics(sources: list[Source], rng: random.Random) -> Iterator[Pair]:
    """The name of a file, and of a class, asks for any chunk of it."""
    for source in sources:
        stem = [w for w in words(Path(source.path).stem) if w not in VAGUE]
        folder = [w for w in words(Path(source.path).parent.name) if w not in VAGUE]
        inner = [w for w in words(source.chunk.symbol_path.split(".")[0]) if w not in VAGUE]
        spoken = list(dict.fromkeys([*stem, *(inner if rng.random() < 0.5 else folder)]))
        if len(spoken) >= 2 and stem and rng.random() < 0.35:
            yield _pair("topic", source, " ".join(spoken), source.chunk.text)


def _homes(sources: list[Source]) -> dict[str, Source]:
    """The one chunk that defines a name, where there is one."""
    found: defaultdict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if not classify(source.path, source.language).is_test:
            for name in source.chunk.symbols:
                found[name].append(source)
    return {name: each[0] for name, each in found.items() if len(each) == 1 and len(name) > 3}


def _tests(sources: list[Source], rng: random.Random) -> Iterator[Pair]:
    """The name of a test asks for the one definition that it calls and is named after."""
    homes = _homes(sources)
    for source in sources:
        spoken = words(source.chunk.symbol)
        if "test" not in spoken or not classify(source.path, source.language).is_test:
            continue
        question = [word for word in spoken if word not in ("test", "tests")]
        called = [name for name, _ in source.chunk.calls if name in homes]
        near = [n for n in dict.fromkeys(called) if set(words(n)) & set(question)]
        if len(question) >= 2 and near:
            target = homes[near[0]]
            yield _pair("test", target, " ".join(question), _shown(target, target.chunk.text, rng))


# --- what answers --------------------------------------------------------------------------


def _pair(kind: str, source: Source, question: str, code: str) -> Pair:
    return Pair(kind, source.language, source.path, source.id, question, code)


def _shown(source: Source, code: str, rng: random.Random) -> str:
    """The code as the indexer gives it, or without its names and its place."""
    if rng.random() < HIDDEN_SHARE:
        return _hidden(code, source.chunk.symbols)
    return f"{source.head}\n{code}"


def _hidden(code: str, names: tuple[str, ...] | list[str]) -> str:
    longest = sorted({name for name in names if name}, key=len, reverse=True)
    if not longest:
        return code
    either = "|".join(re.escape(name) for name in longest)
    return re.sub(rf"(?<![\w$])(?:{either})(?![\w$])", "", code)
