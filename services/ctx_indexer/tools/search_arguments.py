"""The arguments of a code search, declared once for every tool that takes them."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ctx_core.serving.sessions import SessionToken
from ctx_indexer.search.query import MAX_QUERY_LENGTH
from ctx_indexer.search.searcher import MAX_HITS
from ctx_indexer.tools.context import CollectionArgument
from ctx_indexer.tools.foreign_arguments import (
    Case,
    Mode,
    OutputFormat,
    PathRegex,
    RerankTimeout,
    WorkspacePath,
)

MAX_LIMIT = MAX_HITS
MAX_PER_PATH = 100
MAX_RERANKED = 200
MAX_CONTEXT_LINES = 50

Text = Annotated[str, Field(max_length=MAX_QUERY_LENGTH)]
Names = str | list[str] | None
Query = Annotated[
    Text | list[Text],
    Field(description="Words, a question or a symbol; a list is searched as one."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Maximum results.")]
Repo = Annotated[Names, Field(description="Only these repositories; `*` is every one.")]
Language = Annotated[str | None, Field(description="Only this language.")]
Under = Annotated[str | None, Field(description="Only this folder and all below it.")]
PathGlob = Annotated[Names, Field(description="Only paths like these.")]
IncludeSnippet = Annotated[bool, Field(description="Include the code.")]
ContextLines = Annotated[
    int, Field(ge=0, le=MAX_CONTEXT_LINES, description="Lines around each definition.")
]


@dataclass(frozen=True)
class SearchArguments:
    """The arguments of `repo_search`."""

    query: Query
    limit: Limit = 10
    offset: Annotated[int, Field(ge=0, le=MAX_HITS, description="Results to skip.")] = 0
    per_path: Annotated[
        int, Field(ge=1, le=MAX_PER_PATH, description="Maximum results from one file.")
    ] = 2
    repo: Repo = None
    language: Language = None
    path_glob: PathGlob = None
    under: Under = None
    not_glob: Annotated[Names, Field(description="Exclude paths like these.")] = None
    symbol: Annotated[str | None, Field(description="Only where this name is defined.")] = None
    kind: Annotated[
        str | None,
        Field(description="Only function, class, variable, import, comment, method, …"),
    ] = None
    ext: Annotated[Names, Field(description="Only files with this ending.")] = None
    include_snippet: IncludeSnippet = True
    context_lines: ContextLines = 3
    highlight_snippet: Annotated[
        bool, Field(description="List fragments with the matching words marked <<so>>.")
    ] = True
    rerank_enabled: Annotated[
        bool | None,
        Field(description="Rerank the best candidates with the cross-encoder, or not."),
    ] = None
    rerank_top_n: Annotated[
        int, Field(ge=1, le=MAX_RERANKED, description="Candidates to rerank.")
    ] = 50
    rerank_return_m: Annotated[
        int, Field(ge=1, le=MAX_LIMIT, description="Maximum results after reranking.")
    ] = 12
    explain: Annotated[bool, Field(description="Show how scores came about.")] = False
    collection: CollectionArgument = None
    session: SessionToken = None
    path_regex: PathRegex = None
    case: Case = None
    mode: Mode = None
    workspace_path: WorkspacePath = None
    rerank_timeout_ms: RerankTimeout = None
    output_format: OutputFormat = None


def names_of(value: Names) -> tuple[str, ...]:
    """Return one name or a list of names without blank ones."""
    given = [value] if isinstance(value, str) else value or []
    return tuple(name.strip() for name in given if name.strip())
