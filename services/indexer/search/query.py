"""What a query asks: its words, the identifiers in it, and the filters written into it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.core.errors import InvalidInput
from services.core.text.tokens import text_terms

MAX_QUERY_LENGTH = 1000
FILTER_NAMES = {
    "lang": "language",
    "language": "language",
    "path": "path_glob",
    "kind": "kind",
    "symbol": "symbol",
    "repo": "repo",
    "under": "under",
    "ext": "ext",
    "not": "not_glob",
}
# name:value, or name:"a value with spaces"; `std::vector` and URLs are not filters.
_FILTER = re.compile(rf'(?<!\S)({"|".join(FILTER_NAMES)}):("[^"]+"|[^\s:"][^\s]*)')
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
# camelCase, snake_case, PascalCase with a lower-case letter, or ALL_CAPS: not an English word.
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^_+\w|^[A-Z][A-Za-z]*[A-Z]|[$]")
# The whole query is one name: Session, http.Client, Vec::push, Foo#bar, run()
_SYMBOL_QUERY = re.compile(r"^[\w$]+(?:(?:\.|::|#|->|/)[\w$]+)*(?:\(\))?$")


@dataclass(frozen=True)
class ParsedQuery:
    """One query, understood. `names` are identifiers as written, the most specific first."""

    text: str
    terms: frozenset[str]
    names: tuple[str, ...] = ()
    is_symbol: bool = False
    filters: dict[str, list[str]] = field(default_factory=dict)


def parse_query(query: str) -> ParsedQuery:
    """Take the filters out of the text, and tell a symbol from prose."""
    if len(query) > MAX_QUERY_LENGTH:
        raise InvalidInput(
            "query", f"has {len(query)} characters; at most {MAX_QUERY_LENGTH} are allowed"
        )
    filters: dict[str, list[str]] = {}
    for name, value in _FILTER.findall(query):
        filters.setdefault(FILTER_NAMES[name], []).append(value.strip('"'))
    text = " ".join(_FILTER.sub(" ", query).split())
    if not text and not filters:
        raise InvalidInput("query", "Query cannot be empty")
    is_symbol = bool(_SYMBOL_QUERY.match(text))
    return ParsedQuery(
        text, frozenset(text_terms(text)), _names(text, is_symbol), is_symbol, filters
    )


def parse_queries(queries: str | Sequence[str]) -> list[ParsedQuery]:
    """One question for each query of a list."""
    asked = [queries] if isinstance(queries, str) else list(queries)
    if not asked:
        raise InvalidInput("query", "Query cannot be empty")
    return [parse_query(query) for query in asked]


def _names(text: str, is_symbol: bool) -> tuple[str, ...]:
    found = _IDENTIFIER.findall(text)
    if is_symbol:
        return tuple(dict.fromkeys(reversed(found)))
    words = text.split()
    capitalised = [w for i, w in enumerate(found) if w[0].isupper() and (i or len(words) == 1)]
    return tuple(dict.fromkeys([w for w in found if _CODE_LIKE.search(w)] + capitalised))
