"""One running `ctx up` with tokens of every kind, and data in reach and out of reach."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctx_core.access.token import new_token
from ctx_core.access.token_file import changed_tokens
from tests.integration.access.calls import OUT_OF_REACH, SECRET
from tests.support.processes import Server, environment, running
from tests.support.repositories import Repository
from tests.support.tool_client import ToolClient

FULL = "full-access-of-the-settings"
HOST = "ctx.example.org"  # that a proxy is reached by
TOKENS: Mapping[str, tuple[str, Sequence[str], Sequence[str]]] = {
    # a scope, collections, projects
    "limited": ("admin", ["team"], ["open"]),
    "project": ("read", [], ["open"]),
    "team": ("read", ["team"], []),
    "conversations": ("read", ["conversations"], []),
    "read": ("read", [], []),
    "another": ("read", [], []),
    "revoked": ("read", [], []),
    "write": ("write", [], []),
}


@dataclass(frozen=True)
class Scene:
    """A running server, its tokens, and the id of a memory that is out of reach."""

    server: Server
    workspaces: Path
    tokens: Mapping[str, str]
    memory: str

    def client(self, token: str) -> ToolClient:
        return ToolClient(self.server, self.tokens.get(token, token))


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    top = tmp_path_factory.mktemp("access").resolve()
    for name, word in (("open", "apple"), (OUT_OF_REACH, SECRET)):
        repository = Repository.create(top / "all" / name)
        repository.write(f"{word}_file.py", f"def {word}_of_code():\n    return '{word}'\n")
        repository.git("add", "-A")
        repository.git("commit", "-qm", f"The first {word}")
    made = {name: new_token(name, *given) for name, given in TOKENS.items()}  # type: ignore[arg-type]
    with changed_tokens(top / "data" / "tokens.json") as tokens:
        tokens += [kept for _, kept in made.values()]
    env = environment(
        top / "data",
        CTX_AUTH_TOKENS=FULL,
        CTX_ALLOWED_HOSTS=HOST,
        CTX_WORKSPACE=str(top / "all" / OUT_OF_REACH),
        CTX_WORKSPACE_ROOTS=str(top / "all"),
    )
    with running(env) as server:
        secrets = {name: secret for name, (secret, _) in made.items()}
        memory = asyncio.run(fill(ToolClient(server, FULL), top / "all"))
        yield Scene(server, top / "all", secrets, memory)


async def fill(client: ToolClient, workspaces: Path) -> str:
    """Store something in reach and something out of reach everywhere."""
    for name, word in (("open", "apple"), (OUT_OF_REACH, SECRET)):
        folder = str(workspaces / name)
        await client.done("indexer", "qdrant_index", subdir=folder)
        known = {"key": word, "content": f"{word} known", "project": folder}
        await client.done("memory", "context_add_knowledge", **known)
    await client.done("indexer", "search_commits_for", query="first", repo="*")
    await client.done("memory", "store", information="the apple memory", collection="team")
    text = f"the {SECRET} entry"
    await client.done("memory", "store_context", thread_id="t", source="user", text=text)
    said = {"contextId": "talk", "role": "user", "message": f"{SECRET} said"}
    await client.done("memory", "add_message", **said)
    stored = json.loads(await client.done("memory", "store", information=f"the {SECRET} memory"))
    return str(stored["result"]["structuredContent"]["id"])
