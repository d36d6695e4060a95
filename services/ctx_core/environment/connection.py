"""Where the servers of this machine answer: the few settings that a call of a running one needs.

All settings are checked by pydantic, which takes longer to import than such a call takes. What is
not plainly right is not judged here.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ctx_core.environment.config_file import ConfigInvalid, data_folder, read_config
from ctx_core.environment.ports import (
    BOTH_HTTP,
    DEFAULT_HOST,
    HEALTH_OFFSET,
    INDEXER_HTTP,
    LAST_PORT,
    MEMORY_HTTP,
)

HOST, WORKSPACE, TOKENS = "CTX_HOST", "CTX_WORKSPACE", "CTX_AUTH_TOKENS"
SECRETS = "CTX_SECRETS_DIR"
QDRANT_URL, QDRANT_BIN = "QDRANT_URL", "QDRANT_BIN"
HTTP_PORTS = {"memory": MEMORY_HTTP, "indexer": INDEXER_HTTP, "both": BOTH_HTTP}
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}

ServiceName = Literal["memory", "indexer"]
AddressName = Literal["memory", "indexer", "both"]


@dataclass(frozen=True)
class Connection:
    """The data folder, the address and the token of the servers, and the folder that is meant."""

    data_dir: Path
    host: str
    ports: Mapping[str, int]
    token: str | None
    workspace: Path

    def url(self, service: AddressName, path: str) -> str:
        """Return an address of a server, as a client of this machine reaches it."""
        return f"http://{self._host}:{self.ports[service]}{path}"

    def health_url(self, service: AddressName, path: str) -> str:
        """Return an address of a server's health port: `/readyz → http://…:18002/readyz`."""
        return f"http://{self._host}:{self.ports[service] + HEALTH_OFFSET}{path}"

    @property
    def _host(self) -> str:
        host = WILDCARDS.get(self.host, self.host)
        return f"[{host}]" if ":" in host else host


def read_connection() -> Connection | None:
    """Read the environment and `ctx.toml`; None where a value is not plainly right."""
    folder = data_folder()
    try:
        config = read_config(folder)
        if _value(SECRETS, config):  # a folder with a file for each secret
            return None
        ports = {name: _port(setting, config) for name, setting in HTTP_PORTS.items()}
        tokens = _tokens(_value(TOKENS, config))
    except (ConfigInvalid, ValueError):
        return None
    host, workspace = _value(HOST, config) or DEFAULT_HOST, _value(WORKSPACE, config) or "."
    if not isinstance(host, str) or not isinstance(workspace, str):
        return None
    return Connection(folder, host, ports, tokens[0] if tokens else None, Path(workspace))


def read_store_key() -> str | None:
    """Return the name of the configured Qdrant in the manifest; None where a URL must be checked.

    Raises ConfigInvalid.
    """
    config = read_config(data_folder())
    if _value(QDRANT_URL, config):
        return None
    return "child" if _value(QDRANT_BIN, config) else "embedded"


def _value(name: str, config: Mapping[str, Any]) -> Any:
    return os.environ.get(name) or config.get(name)


def _port(setting: tuple[str, int], config: Mapping[str, Any]) -> int:
    name, default = setting
    port = int(_value(name, config) or default)
    if not 1 <= port <= LAST_PORT:
        raise ValueError(name)
    return port


def _tokens(given: Any) -> list[str]:
    if given is None:
        return []
    parts = given.split(",") if isinstance(given, str) else list(given)
    return [part.strip() for part in parts if part.strip()]
