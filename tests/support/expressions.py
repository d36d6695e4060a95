"""Finds every regular expression of the product, how it is called, and its worst cases."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as sre
from re import _parser
from types import ModuleType
from typing import Any

PACKAGES = ("ctx", "ctx_core", "ctx_indexer", "ctx_memory")
# Imported only by Alembic, inside of its own context.
NOT_IMPORTED = ("ctx_memory.records.migrations.", "ctx.__main__")
METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
CALLED = re.compile(rf"\b(\w+)\.({'|'.join(METHODS)})\b")
ANCHORED = frozenset({"match", "fullmatch"})
LONG_REPEAT = 32  # a repeat that may go on longer than this counts as unbounded
BREAKERS = ("", "\0", "\nx", "a")  # what may follow a repeat, so that the match fails after it
CHARACTERS = " \na.-0/<"  # that a class is tried with
MAX_TURNS = 5


@dataclass(frozen=True)
class Expression:
    """A compiled expression, where it stands, and by which methods it is called."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def expressions() -> list[Expression]:
    """Return the expressions in module globals and those that functions write out."""
    found: dict[re.Pattern[Any], Expression] = {}
    for module in _modules():
        for name, pattern in _globals(module):
            place = f"{module.__name__}.{name}"
            methods = _methods_inside(module) if "[" in name else _methods(name, module)
            found.setdefault(pattern, Expression(place, pattern, methods))
        for line, method, text in _inline(module):
            pattern = re.compile(text)
            place = f"{module.__name__}:{line}"
            found.setdefault(pattern, Expression(place, pattern, frozenset({method})))
    return list(found.values())


def _modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        folder = importlib.import_module(package)
        for info in pkgutil.walk_packages(folder.__path__, f"{package}."):
            if not info.name.startswith(NOT_IMPORTED) and not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def _globals(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, held in list(vars(value).items()):
                yield from _patterns(attribute, held)
        else:
            yield from _patterns(name, value)


def _patterns(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth < 4 and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _patterns(f"{name}[{key!r}]", [key, item], depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for number, item in enumerate(value):
            yield from _patterns(f"{name}[{number}]", item, depth + 1)
    elif depth < 4 and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        fields = [getattr(value, each, None) for each in value.__dataclass_fields__]
        yield from _patterns(name, fields, depth + 1)


def _inline(module: ModuleType) -> Iterator[tuple[int, str, str]]:
    """Yield line, method and text of every `re.method("…")`."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        called, first = node.func, node.args[0]
        of_re = isinstance(called.value, ast.Name) and called.value.id == "re"
        if of_re and called.attr in METHODS and isinstance(first, ast.Constant):
            yield node.lineno, called.attr, str(first.value)


def _folders() -> Iterator[Path]:
    for package in PACKAGES:
        yield from map(Path, importlib.import_module(package).__path__)


def _calls_in(path: Path) -> Mapping[str, set[str]]:
    """Return the methods by which a file calls each name."""
    found: dict[str, set[str]] = {}
    for name, method in CALLED.findall(path.read_text()):
        found.setdefault(name, set()).add(method)
    return found


@cache
def _calls() -> Mapping[str, set[str]]:
    """Return the methods by which each name of the product is called."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in _folders() for path in folder.rglob("*.py")):
        for name, methods in _calls_in(path).items():
            found.setdefault(name, set()).update(methods)
    return found


def _methods(name: str, module: ModuleType) -> frozenset[str]:
    """Return the methods by which a name is called; a name that is never seen is searched for.

    A private name is its module's own: `_ITEM` of another file is another expression.
    """
    calls = _calls_in(Path(str(module.__file__))) if name.startswith("_") else _calls()
    return frozenset(calls.get(name, {"search"}))


def _methods_inside(module: ModuleType) -> frozenset[str]:
    """Return the methods by which a module calls the expressions of its tables."""
    text = Path(str(module.__file__)).read_text()
    called = re.findall(rf"\b[a-z]\w*\.({'|'.join(METHODS)})\(", text.replace("re.", ""))
    return frozenset(called) or frozenset({"search"})


# --- worst cases ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """A text `start + pump * n + end`."""

    start: str
    pump: str
    end: str

    def text(self, length: int) -> str:
        return self.start + self.pump * max(1, length // len(self.pump)) + self.end


def attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    """Return texts that repeat what the expression repeats, and what it may begin with."""
    source, flags = pattern.pattern, pattern.flags
    if isinstance(source, bytes):
        source, flags = source.decode("latin-1"), flags & ~re.UNICODE
    tree = _parser.parse(source, flags)
    found: dict[Attack, None] = {}
    for start, turns in _repeats(tree, ""):
        pairs = [one + other for one in turns for other in turns if one != other]
        for pump in (*turns, *pairs):
            for end in BREAKERS:
                found.setdefault(Attack(start, pump, end))
            found.setdefault(Attack("", pump, ""))
            found.setdefault(Attack("", start + pump, ""))
        for pump in (start, start + "\n", start + "\0"):
            found.setdefault(Attack("", pump, "\0"))
    for character in sorted(_characters(tree)):
        for end in BREAKERS[:2]:
            found.setdefault(Attack("", character, end))
    if whole := _sample(tree):
        found.setdefault(Attack("", whole, ""))
        found.setdefault(Attack("", whole[:-1] or whole, "\0"))
    return [attack for attack in found if attack.pump]


def _repeats(tree: Iterable[Any], start: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what stands before an unbounded repeat, and single turns of it."""
    before = start
    for node in tree:
        operator, value = node
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, most, body = value
            if most is sre.MAXREPEAT or most > LONG_REPEAT:
                yield before, _turns(body)
            yield from _repeats(body, before)
        else:
            for inner in _children(node):
                yield from _repeats(inner, before)
        before += _sample([node])


def _turns(body: Any) -> list[str]:
    """Return single turns of a repeat: one for each kind of character that it takes."""
    turns = [_sample(body)]
    if len(body) == 1:
        turns += [c for c in CHARACTERS if _takes(body[0], ord(c))]
    return [turn for turn in dict.fromkeys(turns) if turn][:MAX_TURNS]


def _children(node: Any) -> list[Any]:
    operator, value = node
    if operator is sre.SUBPATTERN:
        return [value[3]]
    if operator is sre.BRANCH:
        return list(value[1])
    if operator in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if operator is sre.ATOMIC_GROUP:
        return [value]
    return []


def _sample(tree: Iterable[Any]) -> str:
    """Return a short text that the tree matches, assertions aside."""
    return "".join(_sample_of(node) for node in tree)


def _sample_of(node: Any) -> str:
    operator, value = node
    if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, body = value
        return _sample(body) * (least or min(1, 1 if most is sre.MAXREPEAT else most))
    if operator in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.CATEGORY):
        return chr(_character(node))
    if operator in (sre.ASSERT, sre.ASSERT_NOT, sre.AT):
        return ""
    inner = _children(node)
    return _sample(inner[0]) if inner else ""


def _character(node: Any) -> int:
    if node[0] is sre.LITERAL:
        return int(node[1])
    return next((code for code in [*map(ord, "a0 -_/\n\t"), *range(256)] if _takes(node, code)), 97)


def _takes(node: Any, code: int) -> bool:
    """Whether a node of one character takes this one, by asking a compiled class."""
    operator, value = node
    if operator is sre.LITERAL:
        return bool(code == value)
    if operator is sre.NOT_LITERAL:
        return bool(code != value)
    if operator is sre.ANY:
        return code != ord("\n")
    if operator is sre.CATEGORY:
        return _in_category(value, chr(code))
    if operator is not sre.IN:
        return False
    negated = value[0][0] is sre.NEGATE
    hit = any(
        (kind is sre.LITERAL and code == item)
        or (kind is sre.RANGE and item[0] <= code <= item[1])
        or (kind is sre.CATEGORY and _in_category(item, chr(code)))
        for kind, item in value
    )
    return hit != negated


CATEGORIES: Mapping[Any, str] = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _in_category(category: Any, character: str) -> bool:
    return re.fullmatch(CATEGORIES[category], character, re.DOTALL) is not None


def _characters(tree: Iterable[Any]) -> set[str]:
    """Return a character for every place of the expression that takes one."""
    found = set()
    for node in tree:
        if node[0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            found.add(chr(_character(node)))
        if node[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            found |= _characters(node[1][2])
        for inner in _children(node):
            found |= _characters(inner)
    return found
