"""Settings of the indexer: workspaces, files, answers."""

from pathlib import Path

from pydantic import BaseModel

from ctx_core.settings.fields import CommaList, env


class IndexerSettings(BaseModel):
    """Which files are indexed; the defaults of searches and answers."""

    workspace: Path = env(
        "CTX_WORKSPACE", Path(), "The folder that is indexed; tools reach nothing outside it."
    )
    workspace_roots: CommaList = env(
        "CTX_WORKSPACE_ROOTS",
        (),
        "Further folders that may be indexed, each with all that lies below it.",
    )
    host_workspace: str | None = env(
        "CTX_HOST_WORKSPACE",
        None,
        "The workspace's folder as clients know it, where the server sees it elsewhere (a "
        "container's mount). Paths that clients send may begin with it.",
    )
    current_repo: str | None = env(
        "CURRENT_REPO", None, "Name of the workspace's repository. Unset: as git has it."
    )
    repo_auto_filter: bool = env(
        "REPO_AUTO_FILTER",
        True,
        "Search only the repositories at and inside the workspace where a search names none.",
    )
    answer_budget_tokens: int = env(
        "MICRO_BUDGET_TOKENS",
        3000,
        "Tokens of the sources that an answer is made of, where a call of `context_answer` names "
        "no budget.",
        ge=100,
        le=32_000,
    )
    max_file_bytes: int = env(
        "CTX_MAX_FILE_BYTES",
        1_048_576,
        "Files larger than this are not indexed: they are data.",
        ge=1024,
    )
    watch: bool = env(
        "CTX_WATCH",
        True,
        "Follow the files of every indexed workspace, and of the folder that `ctx up` starts in.",
    )
    shared_index: bool = env(
        "CTX_SHARED_INDEX",
        False,
        "Several indexers follow checkouts of one branch into one Qdrant server, as replicas do: "
        "each writes when it has a change, one at a time. Else the first one keeps the repository.",
    )
    index_workers: int = env(
        "CTX_INDEX_WORKERS", 0, "Processes that prepare files for the index; 0 is one a core.", ge=0
    )

    history_commits: int = env(
        "CTX_HISTORY_COMMITS",
        2_000,
        "Newest commits of a repository that search_commits_for searches.",
        ge=1,
        le=100_000,
    )
    info_request_limit: int = env(
        "INFO_REQUEST_LIMIT",
        10,
        "Results of info_request where the call names no limit, of requests that are neither short "
        "(15 results) nor a question (8).",
        ge=1,
        le=100,
    )
    info_request_context_lines: int = env(
        "INFO_REQUEST_CONTEXT_LINES", 5, "Lines of context in results of info_request.", ge=0, le=50
    )
    info_request_explain_default: bool = env(
        "INFO_REQUEST_EXPLAIN_DEFAULT", False, "Whether info_request explains unless told."
    )
    info_request_relationships: bool = env(
        "INFO_REQUEST_RELATIONSHIPS", False, "Whether info_request tells relationships unless told."
    )
