"""`read_code`: a definition by its name, lines of a file, or the outline of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.errors import InvalidInput
from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.reader import DefinitionLocation, FileLocation, FoundNames, Lines
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.foreign_arguments import adapt_name
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import Names, names_of
from ctx_indexer.view.view import View
from ctx_indexer.view.views import ViewArguments

MAX_LINE = 2**31 - 1
MAX_OTHERS = 3  # further definitions of a name that are mentioned
MAX_LISTED = 30  # definitions of one name that are listed


class DefinitionRow(TypedDict):
    """One definition of a list."""

    path: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    signature: str


class ReadCodeResult(TypedDict):
    """The result of `read_code`: `code` with line numbers, or a list of `definitions`.

    `constants` are lines of the file that define names which the code uses.
    `rest` tells how to read what follows; `total_lines` are the file's.
    """

    ok: bool
    path: NotRequired[str]
    repo: NotRequired[str]
    symbol: NotRequired[str]
    kind: NotRequired[str]
    start_line: NotRequired[int]
    end_line: NotRequired[int]
    total_lines: NotRequired[int]
    code: NotRequired[str]
    constants: NotRequired[list[str]]
    rest: NotRequired[str]
    definitions: NotRequired[list[DefinitionRow]]
    message: NotRequired[str]


def read_tools(context: IndexerContext, lookup: Lookup) -> Sequence[Tool]:
    """Build the reader."""

    async def read_code(
        name: Annotated[
            str | None, Field(description="A definition: `Class.method`, or a plain name.")
        ] = None,
        path: Annotated[str | None, Field(description="A file, or the file of the name.")] = None,
        start_line: Annotated[
            int | None, Field(ge=1, le=MAX_LINE, description="First line of the path.")
        ] = None,
        end_line: Annotated[
            int | None, Field(ge=1, le=MAX_LINE, description="Last line, included.")
        ] = None,
        outline: Annotated[
            bool, Field(description="List the path's definitions instead of its lines.")
        ] = False,
        repo: Annotated[Names, Field(description="Only these repositories; `*` is all.")] = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> ReadCodeResult:
        """Read a definition by name, or lines or the outline of a file; always as on disk."""
        if name is None and path is None:
            raise InvalidInput("name", "give the name of a definition, or a path")
        view = await context.views.resolve(
            ViewArguments(collection, session, names_of(repo), places=names_of(path))
        )
        if name is not None:
            under = names_of(path)
            filters = SearchFilters(repos=view.repos)
            wanted = dict(view.paths.located(under[0])) if under else {}
            found = await lookup.definitions.find(
                view, name, filters, first=partial(_is_in, wanted)
            )
            if under:
                found = _in_file(found, name, under[0], wanted, view)
            if len(found.meant) > 1:
                return _several(name, found, view)
            [only] = found.meant
            lines = await lookup.files.lines(
                only.file, max(start_line or 0, only.start_line), end_line or only.end_line
            )
            code = _code(lines, only.end_line, view)
            result: ReadCodeResult = {**code, "symbol": only.symbol, "kind": only.kind}
            if constants := await lookup.files.constants(only, code["code"]):
                result["constants"] = constants
            if found.is_nearest:
                result["message"] = f"nothing is called {name}; this has its last name"
            elif found.others:
                result["message"] = _also(found.others, view)
            return result
        file = await lookup.files.file(view, path or "")
        if outline:
            rows = [_row(each, view) for each in await lookup.files.outline(file)]
            shown = view.shown(file.repo, file.path)
            return {"ok": True, "path": shown, "repo": file.repo, "definitions": rows}
        lines = await lookup.files.lines(file, start_line or 1, end_line)
        return _code(lines, end_line or lines.total, view)

    return [
        Tool(
            read_code,
            "Read code",
            TOOLSET,
            Effect.READS,
            render=render_read_code,
            lean=True,
            adapt=adapt_name,
        )
    ]


def _in_file(
    found: FoundNames, name: str, path: str, wanted: Mapping[str, str], view: View
) -> FoundNames:
    """Keep the definitions of a file or folder. Raises InvalidInput where it has none."""
    meant, others = (
        [each for each in group if _is_in(wanted, each.file)]
        for group in (found.meant, found.others)
    )
    if not meant and not others:
        paths = dict.fromkeys(view.shown(each.file.repo, each.file.path) for each in found.every)
        shown = ", ".join([*paths][:MAX_LISTED])
        raise InvalidInput("path", f"{name} is not defined in {path}; it is in {shown}")
    kept = (meant, others) if meant else (others, [])
    return replace(found, meant=kept[0], others=kept[1], more_files=0)


def _is_in(wanted: Mapping[str, str], file: FileLocation) -> bool:
    """Whether a file is the one that its repo's path means, ends with it, or lies below it."""
    inside = wanted.get(file.repo)
    if inside is None:
        return False
    is_below = not inside or file.path.startswith(f"{inside}/")
    return file.path == inside or file.path.endswith(f"/{inside}") or is_below


def _several(name: str, found: FoundNames, view: View) -> ReadCodeResult:
    rows = [_row(each, view) for each in found.every]
    left = len(rows) - MAX_LISTED
    more = f", {left} of them not listed" if left > 0 else ""
    files = f"; {found.more_files} more files define it" if found.more_files else ""
    what = f"nothing is called {name}: {len(rows)} definitions have its last name"
    if not found.is_nearest:
        what = f"{len(rows)} definitions are called {name}"
    return {
        "ok": True,
        "definitions": rows[:MAX_LISTED],
        "message": f"{what}{more}{files}; {_how_to_choose(found)}",
    }


def _how_to_choose(found: FoundNames) -> str:
    """Say how to read one of several: overloads have one path and one qualified name."""
    if len({(each.file, each.symbol) for each in found.every}) == 1:
        return "read one by path and start_line"
    return "give path or the qualified name"


def _also(others: Sequence[DefinitionLocation], view: View) -> str:
    """Name other definitions of a name, a few of them."""
    named = [
        f"{view.shown(each.file.repo, each.file.path)}:{each.start_line} {each.kind} {each.symbol}"
        for each in others[:MAX_OTHERS]
    ]
    more = len(others) - MAX_OTHERS
    return f"also {', '.join(named)}" + (f" and {more} more of this name" if more > 0 else "")


def _row(found: DefinitionLocation, view: View) -> DefinitionRow:
    return {
        "path": view.shown(found.file.repo, found.file.path),
        "symbol": found.symbol,
        "kind": found.kind,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "signature": found.signature,
    }


def _code(lines: Lines, last: int, view: View) -> ReadCodeResult:
    result: ReadCodeResult = {
        "ok": True,
        "path": view.shown(lines.file.repo, lines.file.path),
        "repo": lines.file.repo,
        "start_line": lines.start_line,
        "end_line": lines.end_line,
        "total_lines": lines.total,
        "code": numbered(lines.rows, lines.start_line),
    }
    if lines.end_line < min(last, lines.total):
        result["rest"] = (
            f"lines {lines.end_line + 1}-{min(last, lines.total)} follow: "
            f"start_line={lines.end_line + 1}"
        )
    return result


def numbered(rows: Sequence[str], start_line: int) -> str:
    """Write rows with their line numbers."""
    return "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, start_line))


def render_read_code(result: Mapping[str, Any]) -> str:
    """Write a result as text: a heading with the location, then numbered lines or a list."""
    if "definitions" in result:
        count = len(result["definitions"])
        head = result.get("message") or f"{result['path']}: {count} definitions"
        is_outline = "path" in result
        return "\n".join([head, *(_listed(row, is_outline) for row in result["definitions"])])
    symbol = f" {result['kind']} {result['symbol']}" if result.get("symbol") else ""
    head = (
        f"{result['path']}:{result['start_line']}-{result['end_line']}{symbol}"
        f" (file has {result['total_lines']} lines)"
    )
    if "message" in result:
        head = f"{head}; {result['message']}"
    parts = [head, *result.get("constants", ()), result["code"]]
    return "\n".join([*parts, f"… {result['rest']}"] if "rest" in result else parts)


def _listed(row: Mapping[str, Any], is_outline: bool) -> str:
    """Write a definition in a line; an outline names its path once, in its heading."""
    lines = f"{row['start_line']}-{row['end_line']}"
    location = lines if is_outline else f"{row['path']}:{lines}"
    return f"{location} {row['kind']} {row['symbol']} | {row['signature']}"
