"""Definitions by name: also with a package or a namespace before it, and without impl blocks."""

from pathlib import Path

import pytest

from ctx_indexer.lookup.reader import FileLocation, definitions_named
from ctx_indexer.lookup.texts import FileTexts

FILES = {
    "middleware/compress.go": "package middleware\n\nfunc Compress() {\n}\n",
    "render/compress.go": "package render\n\nfunc Compress() {\n}\n",
    "include/base.h": (
        "namespace fmt {\nnamespace detail {\nclass buffer {\n};\n}\n"
        "namespace other {\nclass buffer {\n};\n}\n}\n"
    ),
    "src/kind.rs": (
        "#[derive(Debug)]\npub enum Kind {\n    A,\n}\n\nimpl Kind {\n    pub fn new() -> Self {\n"
        "        Kind::A\n    }\n}\n"
    ),
    "walk.go": (
        "package walk\n\nfunc Walk() {\n}\n\nfunc walk() {\n}\n\nfunc (n *Node) Walk() {\n}\n"
    ),
    "src/Gson.java": (
        "class Gson {\n  final Excluder excluder;\n  Gson() {\n  }\n"
        "  Excluder excluder() {\n    return excluder;\n  }\n}\n"
    ),
    "src/schema.ts": (
        "export interface Schema {\n  a: string;\n}\nexport namespace Schema {\n"
        "  export interface Result {\n    b: string;\n  }\n}\n"
    ),
}


@pytest.fixture
def files(tmp_path: Path) -> list[FileLocation]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [FileLocation("repo", tmp_path, name) for name in FILES]


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("middleware.Compress", [("middleware/compress.go", 3)]),
        ("Compress", [("middleware/compress.go", 3), ("render/compress.go", 3)]),
        ("detail::buffer", [("include/base.h", 3)]),
        ("fmt::other::buffer", [("include/base.h", 7)]),
        ("Kind", [("src/kind.rs", 1)]),
        ("Kind::new", [("src/kind.rs", 7)]),
        ("elsewhere.Kind", [("src/kind.rs", 1)]),
        ("Walk", [("walk.go", 3)]),
        ("walk.walk", [("walk.go", 6)]),
        ("Node.Walk", [("walk.go", 9)]),
        ("Gson.excluder", [("src/Gson.java", 5)]),
        ("Gson", [("src/Gson.java", 1)]),
        ("Schema", [("src/schema.ts", 1)]),
        ("Schema.Result", [("src/schema.ts", 5)]),
    ],
)
def test_names_are_found_with_what_is_around_them(
    files: list[FileLocation], name: str, places: list[tuple[str, int]]
) -> None:
    found = definitions_named(FileTexts(), files, name).meant
    assert [(each.file.path, each.start_line) for each in found] == places


def test_what_else_is_called_so_is_told(files: list[FileLocation]) -> None:
    found = definitions_named(FileTexts(), files, "Gson.excluder")
    assert [(each.kind, each.start_line) for each in found.others] == [("variable", 2)]
    plain = definitions_named(FileTexts(), files, "Walk")
    assert [each.symbol for each in plain.others] == ["Node.Walk"]
    assert not definitions_named(FileTexts(), files, "Gson").others, "a constructor is shown"
