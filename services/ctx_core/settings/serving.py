"""Settings of both servers: addresses, limits, toolsets."""

from pathlib import Path
from typing import Literal

from pydantic import AnyHttpUrl, BaseModel, model_validator

from ctx_core.environment.ports import (
    BOTH_HTTP,
    DEFAULT_HOST,
    INDEXER_HTTP,
    INDEXER_SSE,
    MEMORY_HTTP,
    MEMORY_SSE,
)
from ctx_core.settings.fields import CommaList, Port, SecretList, env

LOOPBACK_NAMES = (DEFAULT_HOST, "localhost", "::1")
MAX_BODY_CEILING = 512 * 1024 * 1024  # a body is held in memory several times over


class ServingSettings(BaseModel):
    """How the servers listen, whom they answer, and which tools they offer."""

    log_level: Literal["debug", "info", "warning", "error"] = env(
        "CTX_LOG_LEVEL", "info", "How much is logged to standard error."
    )
    log_format: Literal["text", "json"] = env(
        "CTX_LOG_FORMAT",
        "text",
        "`text` for people, or `json`: one object a line, with the id of the request "
        "(`X-Request-Id`, or a new one) and a line for each call.",
    )
    otlp_endpoint: AnyHttpUrl | None = env(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        None,
        "Where OpenTelemetry traces are sent, such as `http://collector:4318` "
        "(`pip install 'ctx-engine[otel]'`). Unset: none are made.",
    )
    host: str = env(
        "CTX_HOST",
        DEFAULT_HOST,
        "Address to listen on. Beyond loopback, set CTX_AUTH_TOKENS and CTX_ALLOWED_HOSTS too.",
    )
    memory_http_port: Port = env(*MEMORY_HTTP, "Memory server, `/mcp`.")
    memory_sse_port: Port = env(*MEMORY_SSE, "Memory server, `/sse`.")
    indexer_http_port: Port = env(*INDEXER_HTTP, "Indexer server, `/mcp`.")
    indexer_sse_port: Port = env(*INDEXER_SSE, "Indexer server, `/sse`.")
    http_port: Port = env(
        *BOTH_HTTP, "Both servers at one `/mcp`, where `ctx up` runs them together."
    )
    memory_url: AnyHttpUrl | None = env(
        "CTX_MEMORY_URL",
        None,
        "Where an indexer in another process finds the memory server. Unset: the memory server's "
        "`/mcp` on this machine.",
    )
    allowed_hosts: CommaList = env(
        "CTX_ALLOWED_HOSTS",
        (),
        "Host names clients may use beside loopback and the listening address; `*` and patterns "
        "such as `*.example.org` work.",
    )
    allowed_origins: CommaList = env(
        "CTX_ALLOWED_ORIGINS",
        (),
        "Browser origins that may call beside the server's own, such as `https://app.example.org`.",
    )
    auth_tokens: SecretList = env(
        "CTX_AUTH_TOKENS",
        (),
        "Bearer tokens that may do everything; when set, requests without a token are refused.",
    )
    tokens_file: Path | None = env(
        "CTX_TOKENS_FILE",
        None,
        "File of the tokens with scopes that `ctx token` makes, read again when it changes. Where "
        "it is set or the file exists, requests without a token are refused. Unset: `tokens.json` "
        "in the data folder.",
    )
    max_body_bytes: int | None = env(
        "CTX_MAX_BODY_BYTES",
        None,
        "Largest request body; a larger one is refused. Unset: 4 MB more than an image of "
        "MAX_IMAGE_SIZE_MB takes in base64.",
        ge=1024,
        le=MAX_BODY_CEILING,
    )
    operation_timeout_seconds: float = env(
        "CTX_OPERATION_TIMEOUT_SECONDS",
        30.0,
        "Longest time one tool call may take before TIMEOUT_ERROR.",
        gt=0,
    )
    rate_limit_per_minute: int = env(
        "CTX_RATE_LIMIT_PER_MINUTE",
        0,
        "Tool calls a minute for each client (bearer token, else address) before "
        "RATE_LIMIT_ERROR; 0 is no limit.",
        ge=0,
    )
    session_idle_seconds: float = env(
        "CTX_SESSION_IDLE_SECONDS",
        1800.0,
        "How long an MCP session over HTTP is kept without a request; its client then gets 404 and "
        "initializes again.",
        gt=0,
    )
    shutdown_grace_seconds: int = env(
        "CTX_SHUTDOWN_GRACE_SECONDS",
        10,
        "How long running calls may take to finish when the server stops.",
        ge=1,
    )
    toolsets: CommaList = env(
        "CTX_TOOLSETS",
        ("all",),
        "Toolsets that are offered when a client does not choose: `all`, or names from "
        "docs/tools.md.",
    )
    read_only: bool = env("CTX_READ_ONLY", False, "Offer only the tools that write nothing.")

    @model_validator(mode="after")
    def _ports_differ(self) -> "ServingSettings":
        ports = [*self.memory_ports, *self.indexer_ports, self.http_port]
        if len(set(ports)) != len(ports):
            raise ValueError(f"the CTX_*_PORT settings must differ, got {ports}")
        return self

    @property
    def memory_ports(self) -> tuple[int, int]:
        """The HTTP and the SSE port of the memory server."""
        return self.memory_http_port, self.memory_sse_port

    @property
    def indexer_ports(self) -> tuple[int, int]:
        """The HTTP and the SSE port of the indexer server."""
        return self.indexer_http_port, self.indexer_sse_port

    @property
    def own_token(self) -> str | None:
        """The token that our own clients send to our servers."""
        return self.auth_tokens[0].get_secret_value() if self.auth_tokens else None

    @property
    def memory_endpoint(self) -> str:
        """The memory server's `/mcp`, for an indexer in another process."""
        if self.memory_url is not None:
            return str(self.memory_url)
        host = self.host if self.host in LOOPBACK_NAMES else DEFAULT_HOST
        return f"http://{url_host(host)}:{self.memory_http_port}/mcp"


def url_host(host: str) -> str:
    """Return an address as a URL writes it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
