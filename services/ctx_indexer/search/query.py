"""Parses queries: their words, the identifiers in them, and the filters written into them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctx_core.errors import InvalidInput
from ctx_core.text.tokens import terms, text_terms
from ctx_indexer.search.filters import INLINE_FILTERS, SearchFilters

MAX_QUERY_LENGTH = 1000
# name:value, or name:"a value with spaces"; `std::vector` and URLs are not filters.
_FILTER = re.compile(rf'(?<!\S)({"|".join(INLINE_FILTERS)}):("[^"]+"|[^\s:"][^\s]*)')
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
# camelCase, snake_case, PascalCase with a lower-case letter, or ALL_CAPS: not an English word.
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^_+\w|^[A-Z][A-Za-z]*[A-Z]|[$]")
# Text that is written so in a file: MAX_SIZE, parseConfig, models.E028, X-Request-Id, --no-cache.
_LITERAL = re.compile(
    r"(?<![\w.-])(?:"
    r"--?[a-z][\w]*(?:-\w+)+|--[a-z]\w+"  # an option
    r"|[A-Z]\w*(?:-[A-Z]\w*)+"  # a header
    r"|[A-Za-z_$][\w$]*(?:(?:\.|::|\#|->)[A-Za-z_$][\w$]*)+"  # a qualified name
    r"|[A-Za-z_$][\w$]*"
    r")(?![\w-])"
)
_SEPARATED = re.compile(r"[.:#>-]")
_ERROR_CODE = re.compile(r"[A-Z]{1,8}[0-9]{2,8}")
# Questions of people who use the project, which its documentation answers, not its code.
_ASKS_USAGE = re.compile(
    r"\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b|\bgetting started\b|\bquick ?start\b"
    r"|\blicen[cs]ed?\b|\bcontribut(?:e|ing|ors)\b|\bfaq\b|\broadmap\b|\bdocumented\b"
    r"|\bwhich (?:settings|options|environment variables)\b",
    re.IGNORECASE,
)
_ASKS_CHANGES = re.compile(
    r"\bwhat(?:'s| is| has| was)? (?:changed|new)\b|\bchange ?log\b|\brelease notes\b"
    r"|\b(?:last|latest|newest|recent) (?:release|version)\b",
    re.IGNORECASE,
)
_ABBREVIATIONS = frozenset(["e.g", "i.e"])
_QUOTED = re.compile(r"[`'\"]([^\s`'\"]{2,80})[`'\"]")
# The whole query is one name: Session, http.Client, Vec::push, Foo#bar, run()
_SYMBOL_QUERY = re.compile(r"^[\w$]+(?:(?:\.|::|#|->|/)[\w$]+)*(?:\(\))?$")


@dataclass(frozen=True)
class ParsedQuery:
    """A query without its inline filters. `names` are identifiers, the most specific first.

    `literals` are the identifiers, constants, headers and codes in it as a file has them. With
    `asks_usage` it is a question that documentation answers, with `asks_changes` a changelog.
    """

    text: str
    terms: frozenset[str]
    names: tuple[str, ...] = ()
    is_symbol: bool = False
    literals: tuple[str, ...] = ()
    asks_usage: bool = False
    asks_changes: bool = False
    filters: SearchFilters = field(default_factory=SearchFilters)


def parse_query(query: str) -> ParsedQuery:
    """Parse a query. Raises InvalidInput for one that is empty or too long."""
    if len(query) > MAX_QUERY_LENGTH:
        raise InvalidInput(
            "query", f"has {len(query)} characters; at most {MAX_QUERY_LENGTH} are allowed"
        )
    inline = _FILTER.findall(query)
    text = " ".join(_FILTER.sub(" ", query).split())
    if not text and not inline:
        raise InvalidInput("query", "Query cannot be empty")
    is_symbol = bool(_SYMBOL_QUERY.match(text))
    return ParsedQuery(
        text=text,
        terms=frozenset(text_terms(text)),
        names=_names(text, is_symbol),
        is_symbol=is_symbol,
        literals=_literals(text),
        asks_usage=_ASKS_USAGE.search(text) is not None,
        asks_changes=_ASKS_CHANGES.search(text) is not None,
        filters=SearchFilters.from_inline((name, value.strip('"')) for name, value in inline),
    )


def parse_queries(queries: str | Sequence[str]) -> list[ParsedQuery]:
    """Parse one query or a list. Raises InvalidInput as `parse_query` does, or for none."""
    texts = [queries] if isinstance(queries, str) else list(queries)
    if not texts:
        raise InvalidInput("query", "Query cannot be empty")
    return [parse_query(text) for text in texts]


def merge_queries(queries: Sequence[ParsedQuery]) -> ParsedQuery:
    """Merge queries about one topic into the query that ranks their hits; filters are dropped."""
    if len(queries) == 1:
        return queries[0]
    return ParsedQuery(
        text=" ".join(query.text for query in queries),
        terms=frozenset().union(*(query.terms for query in queries)),
        names=tuple(dict.fromkeys(name for query in queries for name in query.names)),
        is_symbol=all(query.is_symbol for query in queries),
        literals=tuple(dict.fromkeys(each for query in queries for each in query.literals)),
        asks_usage=any(query.asks_usage for query in queries),
        asks_changes=any(query.asks_changes for query in queries),
    )


def _names(text: str, is_symbol: bool) -> tuple[str, ...]:
    """Return the identifiers of a query: all of a symbol, those like code or names in prose."""
    identifiers = _IDENTIFIER.findall(text)
    if is_symbol:
        return tuple(dict.fromkeys(reversed(identifiers)))
    words = text.split()
    code_like = [name for name in identifiers if _CODE_LIKE.search(name)]
    capitalised = [
        name
        for position, name in enumerate(identifiers)
        if name[0].isupper() and (position or len(words) == 1)
    ]
    return tuple(dict.fromkeys(code_like + capitalised))


def _literals(text: str) -> tuple[str, ...]:
    """Return the literals of a query, written as in a file: quoted, or unlike any English word."""
    found = _QUOTED.findall(text)
    for written in _LITERAL.findall(text):
        is_acronym = written.isupper() and written.isalpha()
        code_like = _CODE_LIKE.search(written) and not is_acronym
        if (_SEPARATED.search(written) or code_like) and written not in _ABBREVIATIONS:
            found.append(written)
    return tuple(dict.fromkeys(found))


def written_as(literal: str) -> re.Pattern[str]:
    """Compile the pattern of a literal that is no part of a longer name."""
    return re.compile(rf"(?<![\w$]){re.escape(literal)}(?![\w$])")


def words_as_written(query: ParsedQuery) -> re.Pattern[str] | None:
    """Compile the pattern of the query's words in their own case; None for a query without any."""
    words = [word for word in _IDENTIFIER.findall(query.text) if terms(word)]
    if not words:
        return None
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?![\w$])")


def is_code(literal: str) -> bool:
    """Whether a literal is no identifier of the language: a constant, header, option or code."""
    if "-" in literal.replace("->", "") or _ERROR_CODE.fullmatch(literal.rpartition(".")[2]):
        return True
    return literal.isupper() and "_" in literal.strip("_")
