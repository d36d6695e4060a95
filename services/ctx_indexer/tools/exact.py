"""`exact_search`: every line that holds a string or matches an expression."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.lookup.exact import MAX_COUNTED, ExactResult, MatchedFile
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.marks import OTHER
from ctx_indexer.lookup.pattern import MAX_PATTERN_LENGTH, Pattern
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.filter_values import check_places, checked_languages
from ctx_indexer.tools.foreign_arguments import adapt_pattern
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import Names, names_of
from ctx_indexer.view.view import View
from ctx_indexer.view.views import ViewArguments

DEFAULT_LINES = 100
MAX_LINES = 1_000


class ExactLine(TypedDict):
    """A matching line; `role` is definition, import, call or base, and absent for other lines."""

    line: int
    text: str
    role: NotRequired[str]
    symbol: NotRequired[str]


class ExactFile(TypedDict):
    """The matching lines of a file. `count` is there where not all of them are shown."""

    path: str
    repo: NotRequired[str]
    lines: list[ExactLine]
    count: NotRequired[int]


class ExactSearchResult(TypedDict):
    """The result of `exact_search`. `total` counts matching lines in all files.

    Where a role was asked for, `total` counts its lines, and `any_role` all that match.
    """

    ok: bool
    results: list[ExactFile]
    total: int
    files: int
    complete: bool
    any_role: NotRequired[int]
    truncated: NotRequired[str]
    warnings: NotRequired[list[str]]


def exact_tools(context: IndexerContext, lookup: Lookup) -> Sequence[Tool]:
    """Build the exact search."""

    async def exact_search(
        pattern: Annotated[
            str, Field(min_length=1, max_length=MAX_PATTERN_LENGTH, description="Text to find.")
        ],
        regex: Annotated[bool, Field(description="It is a regular expression (RE2).")] = False,
        case_sensitive: Annotated[bool, Field(description="Upper and lower case differ.")] = True,
        whole_word: Annotated[bool, Field(description="Not inside longer names.")] = False,
        role: Annotated[
            Literal["definition", "import", "call", "base"] | None,
            Field(description="Only calls of it, its definition, or classes that it is a base of."),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_LINES, description="Most lines.")] = DEFAULT_LINES,
        offset: Annotated[int, Field(ge=0, le=MAX_COUNTED, description="Lines to skip.")] = 0,
        repo: Annotated[Names, Field(description="Only these repositories; `*` is all.")] = None,
        language: Annotated[str | None, Field(description="Only this language.")] = None,
        path_glob: Annotated[Names, Field(description="Only paths like these.")] = None,
        under: Annotated[str | None, Field(description="Only this folder.")] = None,
        not_glob: Annotated[Names, Field(description="No paths like these.")] = None,
        ext: Annotated[Names, Field(description="Only files with this ending.")] = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> ExactSearchResult:
        """Find every line with a string or expression: all uses, all call sites, error codes.

        Reads the files themselves; `complete` says that nothing is left out.
        """
        matcher = Pattern(pattern, regex=regex, case_sensitive=case_sensitive, word=whole_word)
        view = await context.views.resolve(
            ViewArguments(collection, session, names_of(repo), names_of(under))
        )
        filters = SearchFilters(
            repos=view.repos,
            languages=checked_languages(names_of(language)),
            under=view.under,
            exts=names_of(ext),
            path_globs=names_of(path_glob),
            not_globs=names_of(not_glob),
        )
        filters = filters.within(view, names_of(repo))
        found = await lookup.exact.find(view, matcher, filters, limit, offset, role)
        if not found.searched_files:
            await check_places(context.vectors, view, filters, names_of(repo))
        return _result(found, offset, role, view)

    return [
        Tool(
            exact_search,
            "Find exact text",
            TOOLSET,
            Effect.READS,
            render=render_exact_search,
            lean=True,
            adapt=adapt_pattern,
        )
    ]


def _result(found: ExactResult, offset: int, role: str | None, view: View) -> ExactSearchResult:
    several = len({file.repo for file in found.files}) > 1
    after = offset + found.shown
    result: ExactSearchResult = {
        "ok": True,
        "results": [_file(file, several, view) for file in found.files],
        "total": found.lines,
        "files": found.matched_files,
        "complete": offset == 0 and after >= found.lines and not found.capped,
    }
    if role:
        result["any_role"] = found.any_role
    if found.capped:
        result["truncated"] = f"more than {MAX_COUNTED} lines match; make the pattern longer"
    elif after < found.lines:
        shown = f"lines {offset + 1}-{after} of {found.lines}"
        result["truncated"] = f"{shown}; go on with offset={after}"
    if warnings := _warnings(found):
        result["warnings"] = warnings
    return result


def _warnings(found: ExactResult) -> list[str]:
    if found.unreadable:
        gone = f"{_count(found.unreadable, 'indexed file')} gone or unreadable"
        return [f"{gone}; qdrant_index brings the index up to date"]
    if not found.searched_files:
        return ["no indexed file fits the filters: nothing was searched"]
    return []


def _file(file: MatchedFile, named: bool, view: View) -> ExactFile:
    row: ExactFile = {"path": view.shown(file.repo, file.path), "lines": []}
    if named:
        row["repo"] = file.repo
    for each in file.lines:
        line: ExactLine = {"line": each.line, "text": each.text}
        if each.mark.role != OTHER:
            line["role"] = each.mark.role
        if each.mark.symbol:
            line["symbol"] = each.mark.symbol
        row["lines"].append(line)
    if file.count > len(file.lines):
        row["count"] = file.count
    return row


def render_exact_search(result: Mapping[str, Any]) -> str:
    """Write a result as text: a heading a file, then `line: text`, with role and symbol."""
    state = "complete" if result["complete"] else result.get("truncated", "not complete")
    counts = f"{_count(result['total'], 'line')} in {_count(result['files'], 'file')}"
    if "any_role" in result:
        counts += f", of {result['any_role']} that match"
    parts = [f"{counts} ({state})"]
    for file in result["results"]:
        repo = f"{file['repo']}: " if "repo" in file else ""
        more = f" ({file['count']} lines)" if "count" in file else ""
        parts.append(f"{repo}{file['path']}{more}")
        symbol = ""
        for line in file["lines"]:
            if line.get("symbol", "") != symbol:
                symbol = line.get("symbol", "")
                parts.append(f"  in {symbol}" if symbol else "  at the top level")
            role = f" [{line['role']}]" if "role" in line and "any_role" not in result else ""
            parts.append(f"{line['line']}:{role} {line['text']}")
    return "\n".join([*parts, *result.get("warnings", [])])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
