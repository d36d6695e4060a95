"""Chunks: where they begin and end, what they are about, and that no line is lost."""

import pickle
import sysconfig
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx_indexer.chunking.chunker import MAX_LINE_CHUNKS, TRUNCATION_MARK, Chunk
from ctx_indexer.chunking.chunker import chunk as chunk_outline
from ctx_indexer.chunking.spans import DEFAULT_LIMITS, ChunkLimits
from ctx_indexer.languages.registry import LANGUAGES as REGISTERED
from ctx_indexer.languages.registry import definition_query
from ctx_indexer.source.content import decode
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax.definitions import KINDS
from ctx_indexer.syntax.grammar import grammar_of, parse
from ctx_indexer.syntax.lines import normalise
from ctx_indexer.syntax.outline import outline
from ctx_indexer.syntax.references import Reference

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "tests/indexer/syntax/samples").iterdir())
LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
SOURCES = [*SAMPLES, *sorted(ROOT.glob("services/**/*.py")), *LIBRARY]
LANGUAGES = sorted(
    {name for name in REGISTERED if definition_query(name)} | {"markdown", "rst", "vue", "text"}
)


def chunk(text: str, language: str, limits: ChunkLimits = DEFAULT_LIMITS) -> list[Chunk]:
    return chunk_outline(outline(text, language), limits)


def check(text: str, language: str, limits: ChunkLimits = DEFAULT_LIMITS) -> list[Chunk]:
    """Each line that is not blank is in exactly one chunk, and every field is as promised."""
    chunks = chunk(text, language, limits)
    max_chars = limits.max_chars
    rows = normalise(text).split("\n")
    seen = dict.fromkeys(range(1, len(rows) + 1), 0)
    for found in chunks:
        assert found.kind in KINDS
        assert 1 <= found.start_line <= found.def_line <= found.end_line <= len(rows)
        assert len(found.text) <= max_chars + len(TRUNCATION_MARK)
        for line in range(found.start_line, found.end_line + 1):
            seen[line] += 1
        for reference in (*found.imports, *found.calls):
            assert found.start_line <= reference.line <= found.end_line
        if found.start_line < found.end_line:
            assert found.text == "\n".join(rows[found.start_line - 1 : found.end_line])
    for line, row in enumerate(rows, 1):
        if row.strip():
            assert seen[line] == 1 or (seen[line] > 1 and len(row) > max_chars)
    return chunks


@settings(max_examples=80)
@given(st.sampled_from(SOURCES), st.integers(200, 3000))
def test_no_line_is_lost(path: Path, target: int) -> None:
    content = path.read_bytes()
    limits = ChunkLimits(target, max_chars=2 * target, min_chars=target // 8)
    check(decode(content), language_of(path.name, content), limits)


@settings(max_examples=150)
@given(st.sampled_from(LANGUAGES), st.sampled_from(SAMPLES), st.data())
def test_damaged_files_do_no_harm(language: str, path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=4))
    check(decode(bytes(content)), language)


@settings(max_examples=100)
@given(st.sampled_from(LANGUAGES), st.text(max_size=300))
def test_any_text_can_be_chunked(language: str, text: str) -> None:
    check(text, language)


PYTHON = '''"""What a module is for."""

import os
from a.b import c

LIMIT = 3


class Big:
    """A large class."""

    field = 1

    # Says hello.
    @decorated
    def hello(self):
        return c(LIMIT)

%s

def after():
    return os.getcwd()
'''
METHODS = "\n".join(
    f"    def method_{n}(self):\n" + "".join(f"        self.step({i})\n" for i in range(20))
    for n in range(8)
)


def test_a_large_class_is_its_head_and_its_methods() -> None:
    chunks = check(PYTHON % METHODS, "python")
    head, methods = chunks[0], chunks[1]
    assert (head.kind, head.symbol_path, head.symbols) == (
        "class",
        "Big",
        ("LIMIT", "Big", "field", "hello", "method_0"),
    )
    assert head.text.split("\n")[head.def_line - head.start_line] == "class Big:"
    assert (methods.kind, methods.symbol_path) == ("method", "Big.method_1")
    assert methods.symbols[:2] == ("method_1", "method_2")
    assert (chunks[-1].kind, chunks[-1].symbol_path) == ("function", "after")


def test_imports_calls_and_symbols() -> None:
    (only,) = check(
        "import os\nfrom a.b import c as d\n\n\ndef f():\n    g(1)\n    x.h()\n    g(2)\n", "python"
    )
    assert (only.kind, only.symbol, only.symbol_path, only.symbols) == (
        "function",
        "f",
        "f",
        ("f",),
    )
    assert set(only.imports) == {Reference("os", 1), Reference("a.b", 2), Reference("c", 2)}
    assert only.calls == (Reference("g", 6), Reference("h", 7))
    assert (only.start_line, only.def_line, only.end_line) == (1, 5, 8)


def test_comments_and_decorators_stay_with_their_definition() -> None:
    filler = "".join(f"    total += {n}\n" for n in range(80))
    text = f"def first():\n{filler}\n# About the second.\n@wraps(first)\ndef second():\n{filler}"
    first, second = check(text, "python")
    assert second.text.startswith("# About the second.\n@wraps(first)\ndef second")
    assert second.def_line == second.start_line + 2
    assert (first.symbol, second.symbol) == ("first", "second")


def test_the_head_of_a_file_is_a_chunk_of_imports() -> None:
    imports = "".join(f"from package.module_{n} import name_{n}\n" for n in range(12))
    body = "".join(f"    step({n})\n" for n in range(80))
    head, function = check(f'"""Doc."""\n\n{imports}\nLIMIT = 1\n\n\ndef run():\n{body}', "python")
    assert (head.kind, head.symbol, head.symbols) == ("import", "", ("LIMIT",))
    assert head.text.startswith('"""Doc."""')
    assert (function.kind, function.symbol) == ("function", "run")


def test_a_large_function_keeps_its_name_in_every_part() -> None:
    blocks = "\n".join(
        f"    if x == {n}:\n" + "".join(f"        call_{i}(x)\n" for i in range(15))
        for n in range(20)
    )
    chunks = check(f"def huge(x):\n{blocks}", "python")
    assert len(chunks) > 2
    assert {(c.kind, c.symbol, c.symbol_path) for c in chunks} == {("function", "huge", "huge")}
    assert all(c.text.startswith(("def huge", "    if x ==")) for c in chunks)


def test_small_neighbours_are_joined() -> None:
    text = "\n\n".join(f"def f{n}():\n    return {n}\n" for n in range(10))
    (only,) = check(text, "python")
    assert only.symbols == tuple(f"f{n}" for n in range(10))


def test_a_large_markdown_file_is_cut_at_headings() -> None:
    section = "\n".join(["Words and words and words."] * 30)
    code = "```\n# no heading\n```"
    text = f"# Title\n\nIntro.\n\n## One\n\n{section}\n\n{code}\n\n## Two\n\n{section}\n"
    chunks = check(text, "markdown")
    assert [c.symbol_path for c in chunks] == ["Title > One", "Title > Two"]
    assert all(c.kind == "heading" for c in chunks)


def test_unknown_languages_are_cut_by_lines() -> None:
    text = "\n\n".join(
        "\n".join(f"word {n} {m} and some more of it" for m in range(9)) for n in range(20)
    )
    chunks = check(text, "text")
    assert len(chunks) > 2
    assert {c.kind for c in chunks} == {"text"}
    assert all(
        c.text.startswith("word") and c.text.split("\n")[0].split()[2] == "0" for c in chunks
    )


def test_what_does_not_parse_is_cut_by_lines() -> None:
    found = grammar_of("python")
    assert found is not None
    assert parse(b"%% ?? }} ]] class\n" * 200, found, "python") is None
    assert {c.kind for c in check("%% ?? }} ]] class\n" * 200, "python")} == {"code"}


def test_line_ends_do_not_matter() -> None:
    unix = PYTHON % METHODS
    assert chunk(unix.replace("\n", "\r\n"), "python") == chunk(unix, "python")
    assert chunk("def f():\r    pass\r", "python") == chunk("def f():\n    pass\n", "python")


@pytest.mark.parametrize("text", ["", "\n\n", "  \t\n\r\n"])
def test_an_empty_file_has_no_chunks(text: str) -> None:
    assert chunk(text, "python") == []


def test_a_long_line_gives_several_chunks_and_is_cut() -> None:
    chunks = check("x = 1\n" + "a" * 5_000_000 + "\ny = 2\n", "python")
    long = [c for c in chunks if c.start_line == 2 == c.end_line]
    assert len(long) == MAX_LINE_CHUNKS
    assert long[-1].text.endswith(TRUNCATION_MARK)


ODD = {
    "deep": "x = " + "(" * 10_000 + ")" * 10_000,
    "deep lines": "(\n" * 10_000 + ")\n" * 10_000,
    "open": "[" * 100_000,
    "open lines": "f(\n" * 20_000,
    "functions": "function f(){" * 3_000 + "}" * 3_000,
    "one line": "foo(1); " * 600_000,
    "quotes": '"' * 10_001,
    "headings": "# a\n" * 5_000,
    "elements": "<div>\n" * 5_000,
    "nul": "\0\n" * 1_000,
    "surrogate": "x = '\ud800'\n",
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_files_take_little_time(name: str) -> None:
    for language in ("python", "javascript", "c", "lua", "perl", "json", "html", "markdown"):
        begun = time.process_time()
        check(ODD[name], language)
        assert time.process_time() - begun < 5, language


def chunk_file(path: Path) -> list[Chunk]:
    return chunk(decode(path.read_bytes()), language_of(path.name))


def test_chunks_cross_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(chunk_file, SAMPLES[:5])) == [chunk_file(p) for p in SAMPLES[:5]]
    chunks = chunk_file(SAMPLES[0])
    assert pickle.loads(pickle.dumps(chunks)) == chunks
