"""The bearer token of an HTTP request."""

import httpx
import pytest
from starlette.responses import PlainTextResponse

from services.core.serving.http.guard import BearerGuard

GUARDED = BearerGuard(PlainTextResponse("welcome"), ["first", "second"])


async def get(authorization: str | None) -> httpx.Response:
    transport = httpx.ASGITransport(app=GUARDED)
    headers = {} if authorization is None else {"Authorization": authorization}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get("/mcp", headers=headers)


@pytest.mark.parametrize("header", ["Bearer first", "bearer second", "BEARER  first "])
async def test_each_token_is_accepted(header: str) -> None:
    assert (await get(header)).text == "welcome"


@pytest.mark.parametrize("header", [None, "", "first", "Bearer", "Bearer third", "Basic first"])
async def test_anything_else_is_a_401_with_an_error_body(header: str | None) -> None:
    response = await get(header)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    body = response.json()
    assert (body["ok"], body["error_code"]) == (False, "NOT_PERMITTED")
    assert "Authorization: Bearer" in body["error"]
