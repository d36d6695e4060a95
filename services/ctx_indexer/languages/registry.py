"""All languages, found by the folders of their families."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from ctx_indexer import languages
from ctx_indexer.languages.protocol import Language, any_text

ContentRule = tuple[Callable[[bytes], bool], str]  # whether a text is of a language


def _families() -> Iterator[tuple[Path, Sequence[Language]]]:
    """Yield the folders beside this file, with their languages: LANGUAGES of `go/language.py`."""
    for path in sorted(Path(__file__).parent.glob("*/language.py")):
        module = import_module(f"{languages.__name__}.{path.parent.name}.language")
        yield path.parent, module.LANGUAGES


def _by_words(field: str) -> Mapping[str, str]:
    """Return the language of each word of a field: `extensions` → {"py": "python", …}."""
    return MappingProxyType(
        {word: each.name for each in LANGUAGES.values() for word in getattr(each, field).split()}
    )


def _content_rules() -> Mapping[str, Sequence[ContentRule]]:
    """Return the rules of each extension that languages share; a rule for any text comes last."""
    rules: dict[str, list[ContentRule]] = {}
    for each in LANGUAGES.values():
        for extension, is_of in each.contents.items():
            rules.setdefault(extension, []).append((is_of, each.name))
    return MappingProxyType(
        {key: sorted(found, key=lambda rule: rule[0] is any_text) for key, found in rules.items()}
    )


_FAMILIES = dict(_families())
LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {each.name: each for family in _FAMILIES.values() for each in family}
)
_FOLDERS = {each.name: folder for folder, family in _FAMILIES.items() for each in family}
ALIASES = _by_words("aliases")
EXTENSIONS = _by_words("extensions")
FILE_NAMES = _by_words("file_names")
SUFFIXED_NAMES = _by_words("suffixed_names")
INTERPRETERS = _by_words("interpreters")
MODES = _by_words("modes")
CONTENT_RULES = _content_rules()
_NONE = Language(name="")


def language_named(name: str) -> Language:
    """Return a language by its name; one without any rule for a name that is unknown."""
    return LANGUAGES.get(name, _NONE)


def definition_query(name: str) -> Path | None:
    """Return the file that finds the definitions and references of a language, if it has one."""
    path = _FOLDERS[name] / "queries" / f"{name}.scm" if name in _FOLDERS else None
    return path if path and path.is_file() else None


def symbol_query(name: str, query: str) -> Path:
    """Return the file that finds the symbols of a language: `tsx` uses the query `typescript`."""
    return _FOLDERS[name] / "queries" / "symbols" / f"{query}.scm"
