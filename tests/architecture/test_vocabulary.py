"""Names use the words of the glossary in CONTRIBUTING.md; words that they replaced do not return.

Only names are checked: of types, functions, parameters, variables, attributes and payload fields.
Prose, and the names of tests, may use ordinary English.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT

# Each with the word that stands for it now.
OLD_WORDS = {
    "apart": "disambiguated, disjoint",
    "carried": "copied",
    "carry": "copy",
    "desk": "context",
    "doubt": "dirty",
    "doubtful": "stale",
    "hopeless": "permanent",
    "leg": "query, retriever",
    "legs": "queries, retrievers",
    "mend": "fix",
    "nearness": "word_similarity",
    "settle": "wait_until_searchable",
    "settled": "searchable",
    "shelf": "repo_key",
    "stamped": "with_revision",
    "stray": "orphan",
    "strays": "orphans",
    "told": "details, message",
    "understand": "parse_query, outline",
    "unheard": "no_progress",
    "untold": "overflow",
    "weighed": "rank_features",
}
OLD_NAMES = {
    "Cut",
    "Cutting",
    "FileRow",
    "Found",
    "IndexState",
    "KnownChunks",
    "Leg",
    "Meaning",
    "MemoryVectors",
    "Near",
    "Parts",
    "Place",
    "QueryModels",
    "Question",
    "SecondStage",
    "SharedParts",
    "Wanted",
    "doubtful_paths",
    "facts",
    "forget_repo",
    "open_desk",
    "repair",
    "take_over",
    "windows",
}
OLD_FIELDS = {"facts", "lex", "told", "weighed"}
READS_OLD_FIELDS = "earlier"  # a file of this name reads what an earlier version wrote
PER = re.compile(r"[A-Z]_A_[A-Z]")  # CANDIDATES_A_RESULT: the word is PER
SET_PHRASE = "_AT_A_TIME"
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def files() -> list[Path]:
    found = [path for top in ("ctx", "services", "scripts", "tests") for path in _python(top)]
    return [path for path in found if "samples" not in path.parts]


def _python(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("*.py"))


def names(source: str) -> Iterator[tuple[int, str]]:
    """Every name that a file defines, and its line; not those of tests."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("test_"):
                    yield node.lineno, name
            case ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def problem(name: str) -> str:
    """Why a name is of the old vocabulary; empty where it is not."""
    words = {word.lower() for word in WORD.findall(name)}
    for old in sorted(words & OLD_WORDS.keys()):
        return f"{name}: say {OLD_WORDS[old]}"
    if name.lstrip("_") in OLD_NAMES:
        return f"{name}: replaced"
    return f"{name}: say PER" if PER.search(name.replace(SET_PHRASE, "")) else ""


def texts(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_name_is_of_the_old_vocabulary() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{line} {why}"
        for path in files()
        for line, name in names(path.read_text())
        if (why := problem(name))
    ]
    assert offenders == []


def test_no_payload_field_is_of_the_old_vocabulary() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{line} {text!r}"
        for path in _python("services")
        if READS_OLD_FIELDS not in path.stem
        for line, text in texts(path.read_text())
        if text in OLD_FIELDS
    ]
    assert offenders == []


@pytest.mark.parametrize(
    "source",
    ["class Desk: ...", "def f(shelf): ...", "legs = 1", "x.told = 1", "KEYS_A_QUERY = 5"],
)
def test_the_law_of_names_can_fail(source: str) -> None:
    assert [problem(name) for _, name in names(source) if problem(name)]


def test_ordinary_names_pass() -> None:
    source = "def test_the_reason_is_told(): ...\nCOPIED_AT_A_TIME = 1\nlegacy = 2\nmendel = 3"
    assert [problem(name) for _, name in names(source) if problem(name)] == []
