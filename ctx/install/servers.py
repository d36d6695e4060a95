"""The servers of ctx as a client is told of them."""

import re
from collections.abc import Sequence

from ctx.background import command_line
from ctx.install.clients import Endpoint
from ctx_core.errors import InvalidInput
from ctx_core.settings import Settings, origins
from ctx_core.settings.serving import LOOPBACK_NAMES, url_host

BOTH = "ctx"
SINGLE = ("ctx-memory", "ctx-indexer")
NAMES = (BOTH, *SINGLE)
# Everything, the few tools that most tasks need, and the toolsets of docs/tools.md: importing the
# servers to ask them would take seconds.
TOOLSETS = (
    *("all", "lean"),
    *("admin", "conversations", "index", "knowledge", "memory", "search", "session", "threads"),
)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def endpoint_of_both(settings: Settings, toolset: str | None = None) -> Endpoint:
    """Return both servers as one, over HTTP or stdio; SSE has an address a server."""
    at = f"http://{_host(settings)}:{settings.http_port}{_path(toolset)}"
    return Endpoint(BOTH, http=at, sse="", command=_command("both"))


def endpoints(settings: Settings, toolset: str | None = None) -> list[Endpoint]:
    """Return each server by itself, where a client on this machine finds it."""
    host, path = _host(settings), _path(toolset)
    ports = (settings.memory_ports, settings.indexer_ports)
    return [
        Endpoint(
            name=name,
            http=f"http://{host}:{http}{path}",
            sse=f"http://{host}:{sse}/sse",
            command=_command(name.removeprefix("ctx-")),
        )
        for name, (http, sse) in zip(SINGLE, ports, strict=True)
    ]


def _host(settings: Settings) -> str:
    return url_host(settings.host if settings.host in LOOPBACK_NAMES else "127.0.0.1")


def _path(toolset: str | None) -> str:
    return "/mcp" if toolset is None else f"/mcp/x/{toolset}"


def _command(service: str) -> Sequence[str]:
    return command_line("stdio", service)


def check_variable(name: str | None) -> None:
    """Raise InvalidInput unless a name can be that of an environment variable that is not ours."""
    if name is None:
        return
    if not VARIABLE.fullmatch(name):
        raise InvalidInput("--token-env", "must be the name of an environment variable")
    if name.startswith("CTX_"):
        raise InvalidInput("--token-env", "names of CTX_ belong to ctx: take MCP_CTX_TOKEN")


def set_variables() -> list[str]:
    """List the settings that are in the environment, by their variables."""
    return [name for name, origin in origins().items() if origin == "environment"]
