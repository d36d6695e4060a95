"""The clients that `ctx install` knows: where each keeps its servers, and how it writes one."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ctx.install import mcp_remote

FileKind = Literal["json", "toml"]
Transport = Literal["http", "sse", "stdio"]
Scope = Literal["user", "project"]
TRANSPORTS: Sequence[Transport] = ("http", "sse", "stdio")
SCOPES: Sequence[Scope] = ("user", "project")
START_SECONDS = 30  # until a program answers: the first one of all starts the servers


@dataclass(frozen=True)
class Endpoint:
    """A server of ours: how it is called in a client, and where or how it is reached."""

    name: str
    http: str
    sse: str
    command: Sequence[str]  # that serves it over stdio


@dataclass(frozen=True)
class Wish:
    """The options of the user: how a client reaches the servers, and with which token."""

    transport: Transport = "http"
    headers: Mapping[str, str] | None = None
    token_variable: str | None = None
    variables: Sequence[str] = ()  # of the environment, that a server of the client needs


@dataclass(frozen=True)
class Client:
    """A client: its files, the keys above its servers, and the shape of one server.

    `url_key` names an address, `extra` stands beside one of HTTP, `sse` beside one of SSE;
    `variable` is how the client writes an environment variable, None where it fills in none.
    """

    name: str
    title: str
    user_file: str
    project_file: str | None
    keys: Sequence[str]
    url_key: str = "url"
    extra: Mapping[str, Any] | None = None
    sse: Mapping[str, Any] | None = None  # None: SSE through mcp-remote
    variable: str | None = "${{{name}}}"
    kind: FileKind = "json"
    command_as_list: bool = False  # opencode: one list of words, and a type

    def file(self, scope: Scope, home: Path, project: Path) -> Path | None:
        """Return the file of a scope; None where the client has none."""
        if scope == "project":
            return None if self.project_file is None else project / self.project_file
        return home / self.user_file

    def is_installed(self, home: Path) -> bool:
        """Tell whether the folder of the client's own settings is there."""
        return (home / self.user_file).parent.is_dir() and (
            (home / self.user_file).parent != home or (home / self.user_file).exists()
        )

    def entry(self, endpoint: Endpoint, wish: Wish) -> dict[str, Any]:
        """Return a server as this client writes it."""
        if wish.transport == "stdio":
            return {**self._program(endpoint.command), **self._start(wish.variables)}
        if wish.transport == "sse" and self.sse is not None:
            return {**self.sse, self.url_key: endpoint.sse, **self._headers(wish)}
        if wish.transport == "http" and self._can_send(wish.token_variable):
            return {**(self.extra or {}), self.url_key: endpoint.http, **self._headers(wish)}
        return self._through_mcp_remote(endpoint, wish)

    def _can_send(self, token_variable: str | None) -> bool:
        """Whether the client itself can send a token that a variable has."""
        return token_variable is None or self.variable is not None or self.kind == "toml"

    def _through_mcp_remote(self, endpoint: Endpoint, wish: Wish) -> dict[str, Any]:
        name = wish.token_variable
        reference = self.variable.format(name=name) if self.variable else None
        token = mcp_remote.Token(name, reference) if name else None
        url = endpoint.sse if wish.transport == "sse" else endpoint.http
        words = mcp_remote.words(url, wish.transport, wish.headers or {}, token)
        started = self._program(words, mcp_remote.variables(token))
        return {**started, **self._start([name] if name else [])}

    def _headers(self, wish: Wish) -> dict[str, Any]:
        headers = dict(wish.headers or {})
        if self.kind == "toml":
            token = {"bearer_token_env_var": wish.token_variable} if wish.token_variable else {}
            return {**token, **({"http_headers": headers} if headers else {})}
        if wish.token_variable and self.variable:
            value = self.variable.format(name=wish.token_variable)
            headers["Authorization"] = f"Bearer {value}"
        return {"headers": headers} if headers else {}

    def _start(self, variables: Sequence[str]) -> dict[str, Any]:
        """Return how a program starts: Codex passes on few variables, and waits 10 seconds."""
        if self.kind != "toml":
            return {}
        inherited = {"env_vars": list(variables)} if variables else {}
        return {**inherited, "startup_timeout_sec": START_SECONDS}

    def _program(
        self, words: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        if self.command_as_list:
            environment = {"environment": dict(variables)} if variables else {}
            return {"type": "local", "command": list(words), **environment}
        environment = {"env": dict(variables)} if variables else {}
        return {"command": words[0], "args": list(words[1:]), **environment}


def _in_config(linux: str, mac: str) -> str:
    return mac if sys.platform == "darwin" else linux


CODE_USER = _in_config(".config/Code/User", "Library/Application Support/Code/User")
CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            ".claude.json",
            ".mcp.json",
            ("mcpServers",),
            extra={"type": "http"},
            sse={"type": "sse"},
        ),
        Client(
            "cursor",
            "Cursor",
            ".cursor/mcp.json",
            ".cursor/mcp.json",
            ("mcpServers",),
            variable="${{env:{name}}}",
        ),
        Client(
            "vscode",
            "VS Code",
            f"{CODE_USER}/mcp.json",
            ".vscode/mcp.json",
            ("servers",),
            extra={"type": "http"},
            variable="${{env:{name}}}",
        ),
        Client(
            "windsurf",
            "Windsurf",
            ".codeium/windsurf/mcp_config.json",
            None,
            ("mcpServers",),
            url_key="serverUrl",
            variable="${{env:{name}}}",
        ),
        Client(
            "codex",
            "Codex",
            ".codex/config.toml",
            ".codex/config.toml",
            ("mcp_servers",),
            variable=None,
            kind="toml",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            ".gemini/settings.json",
            ("mcpServers",),
            url_key="httpUrl",
            variable="${name}",
        ),
        Client(
            "opencode",
            "opencode",
            ".config/opencode/opencode.json",
            "opencode.json",
            ("mcp",),
            extra={"type": "remote"},
            variable="{{env:{name}}}",
            command_as_list=True,
        ),
        Client(
            "zed",
            "Zed",
            ".config/zed/settings.json",
            ".zed/settings.json",
            ("context_servers",),
            variable=None,
        ),
        Client(
            "cline",
            "Cline",
            f"{CODE_USER}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            None,
            ("mcpServers",),
            extra={"type": "streamableHttp"},
            variable="${{env:{name}}}",
        ),
        Client(
            "kiro",
            "Kiro",
            ".kiro/settings/mcp.json",
            ".kiro/settings/mcp.json",
            ("mcpServers",),
        ),
    )
}

Detect = Callable[[Path], Sequence[Client]]


def installed_clients(home: Path) -> list[Client]:
    """List the clients that have settings in this home folder."""
    return [client for client in CLIENTS.values() if client.is_installed(home)]
