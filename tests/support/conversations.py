"""How the tests of conversations call a server over REST."""

import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx

Body = Mapping[str, Any]
WAIT_SECONDS = 20.0  # for what a server does in the background, on a loaded machine


class Rest:
    """Calls the REST API as a client does."""

    def __init__(self, url: str, **headers: str) -> None:
        self.client = httpx.Client(base_url=url, headers=headers, timeout=30)

    def act(self, action: str, **arguments: Any) -> Any:
        """Run an action, and return the body of its success."""
        response = self.client.post("/tools/context_memory", json={"action": action, **arguments})
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, **arguments: Any) -> str:
        """Return the message of a request that is refused."""
        response = self.client.post("/tools/context_memory", json=arguments)
        assert response.status_code == 400, response.text
        assert response.json()["success"] is False
        assert set(response.json()) == {"success", "message"}
        message: str = response.json()["message"]
        return message

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        response = self.client.get(path, params=query)
        assert response.status_code == status, response.text
        assert response.headers["content-type"] == "application/json"
        return response.json()

    def add(self, context: str, *contents: str, **more: Any) -> None:
        for content in contents:
            self.act("add", contextId=context, role="user", content=content, **more)

    def wait_for(self, action: str, is_done: Callable[[Any], bool], **arguments: Any) -> Any:
        """Repeat an action until its body is as expected."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            body = self.act(action, **arguments)
            if is_done(body):
                return body
            assert time.monotonic() < deadline, body
            time.sleep(0.05)


def new_id(name: str = "context") -> str:
    """Return the id of a context that nobody has used."""
    return f"{name}-{uuid4().hex[:10]}"
