"""Links that add a server to a client when they are opened."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

Entry = Mapping[str, Any]


def cursor_link(name: str, entry: Entry) -> str:
    """Return the link that asks a user of Cursor to add a server."""
    config = base64.b64encode(_compact(entry)).decode()
    return (
        "cursor://anysphere.cursor-deeplink/mcp/install"
        f"?name={quote(name, safe='')}&config={quote(config, safe='')}"
    )


def vscode_link(name: str, entry: Entry) -> str:
    """Return the link that asks a user of VS Code to add a server."""
    return f"vscode:mcp/install?{quote(_compact({'name': name, **entry}), safe='')}"


LINKS: Mapping[str, Callable[[str, Entry], str]] = {"cursor": cursor_link, "vscode": vscode_link}


def _compact(body: Entry) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
