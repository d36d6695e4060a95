"""Secrets in code, and arguments that are no arguments."""

from typing import Any

from scripts.bench.attacks.attack import Outcome, ServerAttack, Target
from scripts.bench.corpora.planted_secrets import planted
from scripts.bench.fixtures.repositories import Repository

SHOWN = 20  # characters of an argument in the report


def _nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"deeper": value}
    return value


BAD_VALUES: tuple[Any, ...] = (
    "\0",
    "a\0b" * 100,
    "../" * 2000,
    "x" * 200_000,
    "/proc/self/root" * 50,
    "\u202e\ufffe\U0010ffff",
    10**30,
    -(2**63),
    1e308,
    [],
    [None] * 100,
    _nested(100),
    "9999-12-31T23:59:59.999999+14:00",
    "0000-00-00",
    True,
    None,
)
FIELDS = {
    "memory_http": {
        "store": ("information", "metadata", "session"),
        "find": ("query", "limit", "tags", "priority_min", "session"),
        "list_memories": ("limit", "offset", "topic"),
        "update_memory": ("memory_id", "information", "metadata"),
        "store_context": ("thread_id", "source", "text", "metadata", "tags"),
        "search_context": ("thread_id", "limit", "start_date", "end_date", "metadata"),
        "fts_search_context": ("query", "limit", "offset", "mode"),
        "get_context_by_ids": ("context_ids",),
    },
    "indexer_http": {
        "repo_search": ("query", "limit", "under", "path_glob", "language", "session"),
        "exact_search": ("pattern", "limit", "offset", "under", "ext"),
        "read_code": ("path", "symbol", "start_line", "end_line"),
        "qdrant_index": ("subdir", "collection", "session"),
        "workspace_info": ("workspace_path",),
    },
}
VALID = {"information": "note", "query": "note", "pattern": "note", "text": "note"}


async def secrets(target: Target, outcome: Outcome) -> None:
    """The planted corpus: 300 secrets in 30 formats."""
    made = Repository.create(target.workspace / "secrets")
    corpus = list(planted())
    for each in corpus:
        made.write(each.path, each.text)
    await target.index("secrets")
    for each in corpus:
        arguments = {"pattern": each.secret[:64], "limit": 1}
        body = await target.call(target.server.indexer_http, "exact_search", arguments)
        shown = str({key: body[key] for key in body if key not in ("pattern", "query", "hint")})
        outcome.note(each.format, each.secret[:64] not in shown or not body.get("total"))


async def bad_arguments(target: Target, outcome: Outcome) -> None:
    """Every field of the common tools with every bad value: an answer, and no INTERNAL_ERROR."""
    for attribute, tools in FIELDS.items():
        url = getattr(target.server, attribute)
        for tool, fields in tools.items():
            for field in fields:
                for value in BAD_VALUES:
                    valid = {key: VALID[key] for key in VALID if key in fields}
                    what = f"{tool}.{field}={str(value)[:SHOWN]!r}"
                    try:
                        body = await target.call(url, tool, valid | {field: value})
                    except Exception as error:  # noqa: BLE001 - no answer is what is looked for
                        outcome.note(f"{what}: {type(error).__name__}", held=False)
                        continue
                    outcome.note(what, "INTERNAL_ERROR" not in str(body))


ATTACKS = [
    ServerAttack("300 planted secrets", secrets),
    ServerAttack("bad arguments", bad_arguments),
]
