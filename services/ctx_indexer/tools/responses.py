"""The results of the indexer's tools, in the words of the contract."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

# --- search --------------------------------------------------------------------------------


class Components(TypedDict):
    """The parts of a score; the contribution of each rule with `explain` only."""

    dense_score: float
    lexical_score: float
    reranker_score: float | None
    final_score: float
    rules: NotRequired[dict[str, float]]


class Metadata(TypedDict):
    """Language, kind and size of a definition; `tokens` is the cost of reading all of it."""

    language: str
    kind: str
    complexity: str
    tokens: int
    repo: NotRequired[str]


class CodeHit(TypedDict):
    """A definition that `repo_search` found. `snippet` has numbered lines, and marks for cuts.

    `stale` tells that the lines are those of the index, `more_in_file` names other places,
    `constants` are lines of the file that define names of the snippet, `certainty` tells whether a
    test surely calls the symbol that was asked for.
    """

    score: float
    path: str
    symbol: str
    start_line: int
    end_line: int
    snippet: NotRequired[str]
    constants: NotRequired[list[str]]
    highlights: NotRequired[list[str]]
    components: Components
    metadata: Metadata
    stale: NotRequired[bool]
    stale_reason: NotRequired[str]
    more_in_file: NotRequired[list[str]]
    certainty: NotRequired[str]
    reason: NotRequired[str]


class RepoSearchResult(TypedDict):
    """The result of `repo_search`. `total` is how many results can be paged to.

    The tests of a symbol are counted by the certainty of their calls.
    """

    ok: bool
    results: list[CodeHit]
    total: int
    used_rerank: bool
    search_time_ms: float
    query: str | list[str]
    degraded: NotRequired[list[str]]
    left_out: NotRequired[str]
    offset: NotRequired[int]
    context_lines: NotRequired[int]
    exact: NotRequired[int]
    possible: NotRequired[int]
    complete: NotRequired[bool]
    definitions: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


# --- index ---------------------------------------------------------------------------------


class IndexStats(TypedDict):
    """Counts of one index run. `files_processed` are the added and the changed files.

    `copied` has, for each other repo, the chunks copied into a recreated collection; `redacted` how
    many secrets of each kind were taken out of the files that were written.
    """

    files_processed: int
    chunks_created: int
    vectors_generated: int
    processing_time_seconds: float
    errors: int
    files_added: int
    files_changed: int
    files_removed: int
    files_unchanged: int
    skipped: dict[str, int]
    copied: dict[str, int]
    redacted: dict[str, int]
    failures: list[dict[str, str]]


class IndexResult(TypedDict):
    """The result of `qdrant_index` and `qdrant_index_root`."""

    ok: bool
    operation: str
    subdir: str
    collection: str
    repo: str
    recreate: bool
    stats: IndexStats
    message: str


class PruneResult(TypedDict):
    """The result of `qdrant_prune`."""

    ok: bool
    operation: str
    points_removed: int
    points_before: int
    points_after: int
    processing_time_ms: int
    message: str


# --- administration ------------------------------------------------------------------------


class Moment(TypedDict):
    """A point in time, for programs and for people."""

    unix: int
    iso: str


class WatchedWorkspace(TypedDict):
    """A workspace that is followed: how, and how far its index is behind."""

    path: str
    state: str
    pending: int
    lag_seconds: float
    reason: NotRequired[str]


class StatusResult(TypedDict):
    """The result of `qdrant_status`. `storage_size_mb` is null where a Qdrant server stores it.

    `vectors_config` has the dimensions of the dense vectors; sparse ones have none. `watch` is
    there where the server follows files.
    """

    ok: bool
    collection: str
    exists: bool
    count: int
    scanned_points: int
    last_ingested_at: Moment | None
    last_modified_at: Moment | None
    vectors_config: dict[str, int]
    storage_size_mb: float | None
    status: str
    watch: NotRequired[list[WatchedWorkspace]]


class CollectionRow(TypedDict):
    """One collection of `qdrant_list`."""

    name: str
    vectors_count: int | None  # None where they cannot be counted: a damaged collection
    segments_count: int
    points_count: int
    indexed_vectors_count: int
    status: str
    optimizer_status: str | None


class CollectionsResult(TypedDict):
    """The result of `qdrant_list`."""

    ok: bool
    collections: list[CollectionRow]


class WorkspaceResult(TypedDict):
    """The result of `workspace_info`. `source` is `state_file`, or `settings` without one.

    `checkouts` are the folders of its repository, where several are indexed; the main one is first.
    """

    ok: bool
    workspace_path: str
    default_collection: str
    source: str
    state: dict[str, Any]
    checkouts: NotRequired[list[str]]


class WorkspaceRow(TypedDict):
    """One workspace of `list_workspaces`."""

    workspace_path: str
    collection_name: str
    repo: str
    last_updated: str | None
    indexing_state: str


class WorkspacesResult(TypedDict):
    """The result of `list_workspaces`."""

    ok: bool
    workspaces: list[WorkspaceRow]


class RepoRow(TypedDict):
    """A repo of a collection, and the workspaces whose state names both."""

    repo: str
    points_count: int
    workspace_paths: list[str]


class CollectionRepos(TypedDict, total=False):
    """A collection of `collection_map` with its repos."""

    collection: str
    points_count: int
    repos: list[RepoRow]
    samples: list[dict[str, Any]]


class CollectionMapResult(TypedDict):
    """The result of `collection_map`."""

    ok: bool
    search_root: str
    collections: list[CollectionRepos]
    total: int
