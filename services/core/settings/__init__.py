"""Every setting of ctx, and the only place that reads the environment.

`load()` reads and checks all of them at once: a wrong value, or a CTX_ name that does not exist,
stops the start with the name, the value and what is allowed. docs/configuration.md is generated
from the fields below.
"""

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AnyHttpUrl, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from services.core.errors import SettingsInvalid
from services.core.settings.memory import DEFAULT_INDEXED_FIELDS, PROSE_MODEL, MemorySettings
from services.core.settings.memory import env as _env

PREFIX = "CTX_"
HEALTH_PORT_OFFSET = 10_000  # the contract's health ports: 8000 → 18000 … 8003 → 18003
HIGHEST_PORT = 65_535
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
MAX_BODY_CEILING = 4 * 1024 * 1024  # what the MCP library accepts at most
SECRET_MASK = "***"
CODE_MODEL = "static-code-256-v2"
DATABASES = ("sqlite", "sqlite+aiosqlite", "postgresql", "postgres", "postgresql+asyncpg")

Port = Annotated[int, Field(ge=1, le=HIGHEST_PORT - HEALTH_PORT_OFFSET)]
CommaList = Annotated[tuple[str, ...], NoDecode]


def _default_data_dir() -> Path:
    return user_data_path("ctx", appauthor=False)


class Settings(MemorySettings, BaseSettings):
    """One field, one environment variable, one line of documentation."""

    model_config = SettingsConfigDict(
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        case_sensitive=True,
        populate_by_name=True,
    )

    # Where things are
    data_dir: Path = Field(
        default_factory=_default_data_dir,
        validation_alias="CTX_DATA_DIR",
        description="Folder for everything ctx stores: vectors, records, the embedding cache.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _env(
        "CTX_LOG_LEVEL", "info", "How much is logged to standard error."
    )

    # Listening
    host: str = _env(
        "CTX_HOST",
        "127.0.0.1",
        "Address to listen on. Beyond loopback, set CTX_AUTH_TOKENS and CTX_ALLOWED_HOSTS too.",
    )
    memory_http_port: Port = _env("CTX_MEMORY_HTTP_PORT", 8002, "Memory server, `/mcp`.")
    memory_sse_port: Port = _env("CTX_MEMORY_SSE_PORT", 8000, "Memory server, `/sse`.")
    indexer_http_port: Port = _env("CTX_INDEXER_HTTP_PORT", 8003, "Indexer server, `/mcp`.")
    indexer_sse_port: Port = _env("CTX_INDEXER_SSE_PORT", 8001, "Indexer server, `/sse`.")
    allowed_hosts: CommaList = _env(
        "CTX_ALLOWED_HOSTS",
        (),
        "Host names clients may use beside loopback and the listening address; `*` and patterns "
        "such as `*.example.org` work.",
    )
    allowed_origins: CommaList = _env(
        "CTX_ALLOWED_ORIGINS",
        (),
        "Browser origins that may call beside the server's own, such as `https://app.example.org`.",
    )
    auth_tokens: Annotated[tuple[SecretStr, ...], NoDecode] = _env(
        "CTX_AUTH_TOKENS",
        (),
        "Bearer tokens; when set, `/mcp` and `/sse` refuse requests without one of them.",
    )
    max_body_bytes: int = _env(
        "CTX_MAX_BODY_BYTES",
        MAX_BODY_CEILING,
        "Largest request body; a larger one is answered with 413.",
        ge=1024,
        le=MAX_BODY_CEILING,
    )
    operation_timeout_seconds: float = _env(
        "CTX_OPERATION_TIMEOUT_SECONDS",
        30.0,
        "Longest time one tool call may take before TIMEOUT_ERROR.",
        gt=0,
    )
    rate_limit_per_minute: int = _env(
        "CTX_RATE_LIMIT_PER_MINUTE",
        0,
        "Tool calls a minute for each client (bearer token, else address) before "
        "RATE_LIMIT_ERROR; 0 is no limit.",
        ge=0,
    )
    shutdown_grace_seconds: int = _env(
        "CTX_SHUTDOWN_GRACE_SECONDS",
        10,
        "How long running calls may take to finish when the server stops.",
        ge=1,
    )

    # Tools
    toolsets: CommaList = _env(
        "CTX_TOOLSETS",
        ("all",),
        "Toolsets that are offered when a client does not choose: `all`, or names from "
        "docs/tools.md.",
    )
    read_only: bool = _env("CTX_READ_ONLY", False, "Offer only the tools that write nothing.")

    # Qdrant
    qdrant_url: AnyHttpUrl | None = _env(
        "QDRANT_URL", None, "A Qdrant server or cluster. Unset: `QDRANT_BIN`, else embedded."
    )
    qdrant_api_key: SecretStr | None = _env("QDRANT_API_KEY", None, "API key for `QDRANT_URL`.")
    qdrant_ca_cert: Path | None = _env(
        "QDRANT_CA_CERT", None, "PEM file with the authority that signed the server's certificate."
    )
    qdrant_bin: Path | None = _env(
        "QDRANT_BIN", None, "A Qdrant server binary that ctx runs on loopback as its child."
    )
    qdrant_timeout_seconds: float = _env(
        "QDRANT_TIMEOUT_SECONDS", 20.0, "Longest wait for one answer of the Qdrant server.", gt=0
    )
    collection_name: str = _env("COLLECTION_NAME", "codebase", "Collection for code.")
    memory_collection_name: str = _env(
        "MEMORY_COLLECTION_NAME", "memories", "Collection for memories; never the one for code."
    )

    # Indexing
    workspace: Path = _env(
        "CTX_WORKSPACE", Path(), "The folder that is indexed; tools reach nothing outside it."
    )
    workspace_roots: CommaList = _env(
        "CTX_WORKSPACE_ROOTS",
        (),
        "Further folders that may be indexed, each with all that lies below it.",
    )
    current_repo: str | None = _env(
        "CURRENT_REPO", None, "Name of the workspace's repository. Unset: as git has it."
    )
    repo_auto_filter: bool = _env(
        "REPO_AUTO_FILTER", True, "Search only the workspace's repository unless told otherwise."
    )
    micro_chunk_tokens: int = _env(
        "MICRO_CHUNK_TOKENS", 16, "Tokens of one window inside a chunk.", ge=1
    )
    micro_chunk_stride: int = _env(
        "MICRO_CHUNK_STRIDE",
        8,
        "Tokens from one window to the next; at most MICRO_CHUNK_TOKENS.",
        ge=1,
    )
    max_file_bytes: int = _env(
        "CTX_MAX_FILE_BYTES",
        1_048_576,
        "Files larger than this are not indexed: they are data.",
        ge=1024,
    )
    index_workers: int = _env(
        "CTX_INDEX_WORKERS", 0, "Processes that prepare files for the index; 0 is one a core.", ge=0
    )

    # Models
    embedding_model: str | None = _env(
        "EMBEDDING_MODEL",
        None,
        "Dense model: a shipped one by its name, a folder with `model.onnx` and `tokenizer.json` "
        "or with a static model (`model.json`), or any fastembed model name (downloaded once). "
        f"Unset: `{CODE_MODEL}` for code, `{PROSE_MODEL}` for memories.",
    )
    rerank_model: str | None = _env(
        "RERANK_MODEL",
        None,
        "Cross-encoder that reads the best results again: a folder with an ONNX file and "
        "`tokenizer.json`, or a fastembed name. Unset: no reranking.",
    )
    rerank_blend_weight: float = _env(
        "RERANK_BLEND_WEIGHT",
        0.6,
        "How much the cross-encoder counts against the first ranking.",
        ge=0,
        le=1,
    )
    post_rerank_symbol_boost: float = _env(
        "POST_RERANK_SYMBOL_BOOST",
        1.0,
        "What a definition of the very name asked for gains after reranking.",
        ge=0,
    )
    rerank_timeout_seconds: float = _env(
        "RERANK_TIMEOUT_SECONDS",
        2.0,
        "Longest time for reranking; past it the first ranking is returned, and said so.",
        gt=0,
    )

    # Records
    database_url: str | None = _env(
        "DATABASE_URL",
        None,
        "`sqlite:///path/to/file` or `postgresql://user:password@host/name`. Unset: "
        "`records.sqlite` in the data folder.",
    )
    metadata_indexed_fields: CommaList = _env(
        "METADATA_INDEXED_FIELDS",
        DEFAULT_INDEXED_FIELDS,
        "Metadata fields that filters find quickly; nested ones with dots, such as "
        "`references.task`.",
    )
    memory_url: AnyHttpUrl | None = _env(
        "CTX_MEMORY_URL",
        None,
        "Where an indexer that runs apart finds the memory server. Unset: the memory server's "
        "`/mcp` on this machine.",
    )

    @field_validator(
        "allowed_hosts",
        "allowed_origins",
        "auth_tokens",
        "metadata_indexed_fields",
        "toolsets",
        "workspace_roots",
        mode="before",
    )
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str | None) -> str | None:
        if value is not None and urlsplit(value).scheme not in DATABASES:
            raise ValueError("must be a sqlite:///path or a postgresql://host/name URL")
        return value

    @field_validator("qdrant_bin", "qdrant_ca_cert")
    @classmethod
    def _file_exists(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_file():
            raise ValueError("must be an existing file")
        return value

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @model_validator(mode="after")
    def _windows_leave_no_gap(self) -> "Settings":
        if self.micro_chunk_stride > self.micro_chunk_tokens:
            raise ValueError(
                f"MICRO_CHUNK_STRIDE={self.micro_chunk_stride} must not exceed "
                f"MICRO_CHUNK_TOKENS={self.micro_chunk_tokens}: words between windows would be lost"
            )
        return self

    @model_validator(mode="after")
    def _distinct(self) -> "Settings":
        ports = [*self.memory_ports, *self.indexer_ports]
        if len(set(ports)) != len(ports):
            raise ValueError(f"the four CTX_*_PORT settings must differ, got {ports}")
        names = (self.collection_name, self.memory_collection_name, self.threads_collection_name)
        if len(set(names)) != len(names):
            raise ValueError(
                "COLLECTION_NAME, MEMORY_COLLECTION_NAME and THREADS_COLLECTION_NAME must differ"
            )
        return self

    @property
    def memory_ports(self) -> tuple[int, int]:
        """(HTTP, SSE)"""
        return self.memory_http_port, self.memory_sse_port

    @property
    def indexer_ports(self) -> tuple[int, int]:
        """(HTTP, SSE)"""
        return self.indexer_http_port, self.indexer_sse_port

    @property
    def vectors_dir(self) -> Path:
        return self.data_dir / "vectors"

    @property
    def embedding_cache_path(self) -> Path:
        return self.data_dir / "embeddings.sqlite"

    @property
    def models_dir(self) -> Path:
        """Where downloaded models lie."""
        return self.data_dir / "models"

    @property
    def code_model(self) -> str:
        """The dense model of the indexer."""
        return self.embedding_model or CODE_MODEL

    @property
    def memory_model(self) -> str:
        """The dense model of the memory server."""
        return self.memory_embedding_model or self.embedding_model or PROSE_MODEL

    @property
    def index_state_path(self) -> Path:
        return self.data_dir / "index.sqlite"

    @property
    def records_url(self) -> str:
        if self.database_url is None:
            return f"sqlite:///{self.data_dir / 'records.sqlite'}"
        return self.database_url

    @property
    def own_token(self) -> str | None:
        """The token that our own clients send to our servers."""
        return self.auth_tokens[0].get_secret_value() if self.auth_tokens else None

    @property
    def memory_endpoint(self) -> str:
        """The memory server's `/mcp`, as an indexer that runs apart sees it."""
        if self.memory_url is not None:
            return str(self.memory_url)
        host = self.host if self.host in LOOPBACK_NAMES else "127.0.0.1"
        return f"http://{url_host(host)}:{self.memory_http_port}/mcp"


def url_host(host: str) -> str:
    """An address as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def env_names() -> dict[str, FieldInfo]:
    """Environment variable → field, in the order of this file, the memory server's at the end."""
    fields = Settings.model_fields
    theirs = MemorySettings.model_fields
    ordered = [*(name for name in fields if name not in theirs), *theirs]
    return {str(fields[name].validation_alias): fields[name] for name in ordered}


def load() -> Settings:
    """Read and check every setting, or raise SettingsInvalid that names each wrong one."""
    known = env_names()
    problems = [_unknown(name, known) for name in sorted(os.environ) if _is_stranger(name, known)]
    try:
        settings = Settings()
    except ValidationError as error:
        problems += [_problem(item, known) for item in error.errors()]
    if problems:
        raise SettingsInvalid("\n".join(problems), problems=problems)
    return settings


def _is_stranger(name: str, known: Mapping[str, FieldInfo]) -> bool:
    return name.startswith(PREFIX) and name not in known


def _unknown(name: str, known: Mapping[str, FieldInfo]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/configuration.md lists the settings."
    return f"{name}: no such setting; {hint}"


def _problem(item: Any, known: Mapping[str, FieldInfo]) -> str:
    """One pydantic complaint as: NAME=value: what is allowed."""
    name = str(item["loc"][0]) if item["loc"] else ""
    message = str(item["msg"]).removeprefix("Value error, ")
    if name not in known:
        return message
    secret = "Secret" in str(known[name].annotation)
    value = SECRET_MASK if secret else _without_password(os.environ.get(name, ""))
    return f"{name}={value}: {message}. {known[name].description}"


def _without_password(value: str) -> str:
    """A URL may carry one."""
    return re.sub(r"(://[^/@:]*:)[^/@]*@", rf"\1{SECRET_MASK}@", value)
