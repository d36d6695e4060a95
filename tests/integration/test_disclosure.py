"""A server whose Qdrant or PostgreSQL is gone tells its clients neither where nor who."""

import httpx
from fastmcp import Client

from tests.support.processes import environment, running

HIDDEN = ("127.0.0.9", "hidden-user", "hidden-secret", "6399")


async def test_answers_name_no_address(tmp_path_factory: object) -> None:
    folder = tmp_path_factory.mktemp("hidden")  # type: ignore[attr-defined]
    url = "http://hidden-user:hidden-secret@127.0.0.9:6399"
    env = environment(folder / "data", QDRANT_URL=url)
    with running(env) as server:
        async with Client(server.memory_http) as client, httpx.AsyncClient() as http:
            stored = await client.call_tool(
                "store", {"information": "kept in SQL"}, raise_on_error=False
            )
            found = await client.call_tool("find", {"query": "kept"}, raise_on_error=False)
            ready = await http.get(f"{server.memory_health}/readyz", timeout=20)
        async with Client(server.indexer_http) as client:
            searched = await client.call_tool("repo_search", {"query": "x"}, raise_on_error=False)
    texts = [str(each) for each in (stored, found, searched)] + [ready.text]
    assert "STORAGE_ERROR" in texts[1] + texts[2]
    assert ready.status_code == 503
    assert [word for word in HIDDEN for text in texts if word in text] == []
