"""Arguments that rules files for other code search servers pass, in the words of ours."""

from typing import Any

QUERIES = ("queries", "q", "text")


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
    if given.get("output_format") == "json":
        del given["output_format"]
    return given
