"""Arguments that rules files for other code search servers pass, in the words of ours."""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from ctx_core.errors import InvalidInput
from ctx_core.serving.service import UNLISTED
from ctx_indexer.lookup.pattern import Pattern
from ctx_indexer.search.weights import MODES

QUERIES = ("queries", "q", "text")
FILE_URL = "file://"
# src/a.py:7-16, src/a.py:7, src/a.py:7:12 (with a column), src/a.py#L7-L16
LOCATION = re.compile(
    r"(?P<path>.+?)(?::|#L)(?P<first>[1-9]\d*)(?:-L?(?P<last>[1-9]\d*)|:\d+)?$", re.DOTALL
)
CASES = {"sensitive": True, "insensitive": False}
MILLISECONDS = 1_000
MAX_RERANK_MS = 600_000  # longer than any deadline of a call


def _unlisted(description: str, **limits: Any) -> Any:
    return Field(description=description, json_schema_extra=dict(UNLISTED), **limits)


PathRegex = Annotated[
    str | None, _unlisted("Only paths inside their repository that this expression (RE2) finds.")
]
Case = Annotated[
    str | None,
    _unlisted(
        "`sensitive`: `path_regex` minds the case, and a result holds a word of the query as it "
        "is written; `insensitive` is the default."
    ),
]
Mode = Annotated[
    str | None,
    _unlisted("code_first, docs_first or balanced; by default the question decides."),
]
WorkspacePath = Annotated[str | None, _unlisted("Only this workspace, or a folder of it.")]
RerankTimeout = Annotated[
    int | None, _unlisted("Milliseconds that reranking may take.", ge=1, le=MAX_RERANK_MS)
]
OutputFormat = Annotated[str | None, _unlisted("json; there is no other.")]


def adapt_search(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of `repo_search` with other names and forms replaced by its own."""
    given = dict(arguments)
    for name in QUERIES:
        value = given.pop(name, None)
        if value and not given.get("query"):
            given["query"] = value
    if (limit := given.pop("top_k", None)) is not None:
        given.setdefault("limit", limit)
    if given.pop("compact", None) in (True, "true", "1", 1):
        given |= {"include_snippet": False, "highlight_snippet": False}
    if excluded := given.pop("not_", None):
        words = excluded if isinstance(excluded, list) else [excluded]
        patterns = [f"**/*{word}*{rest}" for word in words for rest in ("", "/**")]
        before = given.get("not_glob") or []
        given["not_glob"] = [*([before] if isinstance(before, str) else before), *patterns]
    return given


def adapt_pattern(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of `exact_search` with the names that searches have replaced by its own."""
    return _renamed(arguments, ("query", "text"), "pattern")


def adapt_name(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of `read_code` with other words for a name replaced, and a location split.

    A location is a path with lines, as answers, compilers and links write it.
    """
    given = _renamed(arguments, ("symbol", "query"), "name")
    path = given.get("path")
    if not isinstance(path, str):
        return given
    given["path"] = path.removeprefix(FILE_URL)
    if (location := LOCATION.match(given["path"])) and not given.get("start_line"):
        given["path"] = location["path"]
        if not given.get("name"):
            given["start_line"] = location["first"]
            given["end_line"] = given.get("end_line") or location["last"]
    return given


def adapt_use(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of a question about a name, with other words for the name replaced."""
    return _renamed(arguments, ("symbol", "name"), "query")


def adapt_graph(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of `symbol_graph` with a `query_type` turned into its relation."""
    given = adapt_use(arguments)
    relation = given.pop("query_type", None)
    if relation and relation != "definition" and not given.get("relations"):
        given["relations"] = [relation]
    return given


def _renamed(arguments: dict[str, Any], others: Sequence[str], own: str) -> dict[str, Any]:
    given = dict(arguments)
    for name in others:
        if given.get(name) and not given.get(own):
            given[own] = given.pop(name)
    return given


def is_case_sensitive(case: str | None) -> bool:
    """Return whether case counts. Raises InvalidInput for an unknown word."""
    word = (case or "insensitive").lower()
    if word not in CASES:
        raise InvalidInput("case", f"{case!r} is unknown; allowed: {', '.join(CASES)}")
    return CASES[word]


def test_of_paths(expression: str | None, case_sensitive: bool) -> Callable[[str], bool] | None:
    """Return the test of paths by an expression, in linear time. Raises InvalidInput."""
    if not expression:
        return None
    try:
        pattern = Pattern(expression, regex=True, case_sensitive=case_sensitive)
    except InvalidInput as error:
        raise InvalidInput("path_regex", str(error.details["message"])) from error
    return lambda path: next(pattern.line_matches(path.encode()), None) is not None


def meaningless(mode: str | None, output_format: str | None) -> list[str]:
    """Return warnings for values that say nothing to this search."""
    warnings = []
    if mode and mode not in MODES:
        warnings.append(f"mode: {mode!r} was ignored; there are {', '.join(MODES)}")
    if output_format and output_format.lower() != "json":
        warnings.append(f"output_format: {output_format!r} was ignored; answers are JSON")
    return warnings
