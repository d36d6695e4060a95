"""Calls of C and C++ resolve by the rules of the language: overloads, includes, what is hidden."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.languages.directives import without_directives
from scripts.bench.graph.application import Application

HEADER = """
#pragma once
namespace lib {
class Key {
public:
  Key(const char* text);
  Key(const std::string& text);
  explicit Key(int a, int b = 2);
  Key(const Key&) = delete;
  void set(char letter) {}
  void set(const std::string& text) {}
  int size() const { return 1; }
  struct State;
  void begin(State* state);
};
class LOCKABLE Guard {
public:
  explicit Guard(Key* key) EXCLUSIVE_LOCK(key) : key_(key) { key_->size(); }
  Guard(const Guard&) = delete;
  void log(const char* format, ...) {}
private:
  Key* key_;
};
}
"""
SOURCE = """
#include "key.h"
namespace lib {
Key::Key(const char* text) {}
Key::Key(const std::string& text) {}
Key::Key(int a, int b) {}
struct Key::State { int count() { return 1; } };
void Key::begin(State* state) { state->count(); }
}
"""


def _resolved(folder: Path, files: Mapping[str, str], language: str) -> set[str]:
    """Return the calls as `line name certainty line`, of the file that is named last."""
    for name, text in files.items():
        (folder / name).write_text(text)
    asked = [*files][-1]
    application = Application(folder, folder.iterdir(), language)
    rows = set()
    for each in application.resolve():
        file = application.file(each.target.path)
        if each.path == asked and file is not None:
            scope = file.scope(each.target.scope)
            rows.add(f"{each.line} {each.certainty} {each.target.path}:{scope.start} {scope.path}")
    return rows


def _lines(rows: set[str], line: int) -> list[str]:
    return sorted(row.partition(" ")[2] for row in rows if row.startswith(f"{line} "))


def test_twins_under_a_condition_are_possible(tmp_path: Path) -> None:
    text = "#if A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n"
    text += "int g(void) { return 3; }\nint main(void) { return f() + g(); }\n"
    rows = _resolved(tmp_path, {"a.c": text}, "c")
    assert _lines(rows, 7) == ["exact a.c:6 g", "possible a.c:2 f", "possible a.c:4 f"]


def test_branches_with_brackets_in_comments_are_whole() -> None:
    text = b"#if A\n/* 1) */\nint f(void) { return 1; }\n#else\n// 2)\nint g(void) { return 2; }\n"
    mended = without_directives(text + b"#endif\n")
    assert b"int f" in mended
    assert b"int g" in mended


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('Key key("a");', ["exact key.cpp:4 Key.Key"]),
        ("std::string text; Key key(text);", ["exact key.cpp:5 Key.Key"]),
        ("Key key(1);", ["exact key.cpp:6 Key.Key"]),
        ("Key key(unknown());", [f"possible key.cpp:{line} Key.Key" for line in (4, 5, 6)]),
        ("void f(Key* k); k->set('a');", ["exact key.h:10 Key.set"]),
        ('k->set("a");', ["exact key.h:11 Key.set"]),
        ("reinterpret_cast<Key*>(p)->size();", ["exact key.h:12 Key.size"]),
        ("keys[2].size();", ["exact key.h:12 Key.size"]),
        ("Guard guard(k);", ["exact key.h:18 Guard.Guard"]),
        ('g->log("%d", 1, 2);', ["exact key.h:20 Guard.log"]),
        ("k->size(1, 2);", []),
        ("Key* none = nullptr; none->size();", ["exact key.h:12 Key.size"]),
        ("k->Key::size();", ["exact key.h:12 Key.size"]),
    ],
)
def test_overloads_and_heads(tmp_path: Path, call: str, expected: list[str]) -> None:
    text = '#include "key.h"\nusing namespace lib;\n'
    text += f"void use(Key* k, Guard* g, void* p, Key* keys) {{\n{call}\n}}\n"
    rows = _resolved(tmp_path, {"key.h": HEADER, "key.cpp": SOURCE, "use.cpp": text}, "cpp")
    exact = [row for row in _lines(rows, 4) if expected or row.startswith(Certainty.EXACT)]
    found = [row for row in exact if "unknown" in call or row.startswith(Certainty.EXACT)]
    assert found == expected


def test_classes_of_other_sources_are_not_seen(tmp_path: Path) -> None:
    other = "class Log { public: void put() {} };\nnamespace { void help() {} }\n"
    header = "class Log { public: void put() {} };\n"
    text = '#include "all.h"\nvoid use(Log* log) {\nlog->put();\nhelp();\n}\n'
    files = {"other.cpp": other, "log.h": header, "all.h": '#include "log.h"\n', "use.cpp": text}
    rows = _resolved(tmp_path, files, "cpp")
    assert _lines(rows, 3) == ["exact log.h:1 Log.put"]
    assert not [row for row in _lines(rows, 4) if row.startswith(Certainty.EXACT)]


def test_includes_through_others_decide(tmp_path: Path) -> None:
    twin = "namespace port { class Mutex { public: void lock() {} }; }\n"
    text = '#include "all.h"\nvoid use(port::Mutex* mutex) {\nmutex->lock();\n}\n'
    files = {"posix.h": twin, "example.h": twin, "all.h": '#include "posix.h"\n', "use.cpp": text}
    assert _lines(_resolved(tmp_path, files, "cpp"), 3) == ["exact posix.h:1 Mutex.lock"]


def test_nested_classes_and_hidden_names(tmp_path: Path) -> None:
    rows = _resolved(tmp_path, {"key.h": HEADER, "key.cpp": SOURCE}, "cpp")
    assert _lines(rows, 8) == ["exact key.cpp:7 Key.State.count"]
    text = "namespace log { class Log { public: void put() {} }; }\n"
    text += "void use() {\nlog::Log log(1);\nlog.put();\n}\n"
    assert _lines(_resolved(tmp_path, {"log.cpp": text}, "cpp"), 4) == ["exact log.cpp:1 Log.put"]


def test_pointers_are_not_constructed_and_copies_are_of_the_class(tmp_path: Path) -> None:
    text = "struct A { A(int n) {} };\nstruct B {\nB(A* p, const A& a) :\n p_(p),\n a_(a) {}\n"
    text += "A* p_;\nA a_;\n};\n"
    rows = _resolved(tmp_path, {"a.cpp": text}, "cpp")
    assert _lines(rows, 4) == []
    assert _lines(rows, 5) == ["exact a.cpp:1 A"]


def test_constructors_are_not_inherited(tmp_path: Path) -> None:
    text = "struct A { A() {} };\nstruct B : A { int n; };\nvoid use() {\nnew B();\n}\n"
    assert _lines(_resolved(tmp_path, {"a.cpp": text}, "cpp"), 4) == ["exact a.cpp:2 B"]
