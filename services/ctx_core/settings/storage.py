"""Settings of storage: the data folder, Qdrant, SQL."""

from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AnyHttpUrl, BaseModel, Field, SecretStr, field_validator, model_validator

from ctx_core.environment.config_file import MANIFEST_FILE
from ctx_core.settings.fields import env

DATABASES = ("sqlite", "sqlite+aiosqlite", "postgresql", "postgres", "postgresql+asyncpg")


def _default_data_dir() -> Path:
    return user_data_path("ctx", appauthor=False)


class StorageSettings(BaseModel):
    """Where vectors, records and caches are."""

    data_dir: Path = Field(
        default_factory=_default_data_dir,
        validation_alias="CTX_DATA_DIR",
        description="Folder for everything ctx stores: vectors, records, the embedding cache.",
    )
    secrets_dir: Path | None = env(
        "CTX_SECRETS_DIR",
        None,
        "Folder with a file for each secret, named as its setting (`DATABASE_URL`, "
        "`CTX_AUTH_TOKENS`): what containers mount. The environment goes before it.",
    )
    qdrant_url: AnyHttpUrl | None = env(
        "QDRANT_URL", None, "A Qdrant server or cluster. Unset: `QDRANT_BIN`, else embedded."
    )
    qdrant_api_key: SecretStr | None = env("QDRANT_API_KEY", None, "API key for `QDRANT_URL`.")
    qdrant_ca_cert: Path | None = env(
        "QDRANT_CA_CERT", None, "PEM file with the authority that signed the server's certificate."
    )
    qdrant_bin: Path | None = env(
        "QDRANT_BIN", None, "A Qdrant server binary that ctx runs on loopback as its child."
    )
    qdrant_timeout_seconds: float = env(
        "QDRANT_TIMEOUT_SECONDS", 20.0, "Longest wait for one answer of the Qdrant server.", gt=0
    )
    qdrant_shards: int | None = env(
        "QDRANT_SHARDS",
        None,
        "Shards of a new collection at `QDRANT_URL`. Unset: one for each node of the cluster.",
        ge=1,
    )
    qdrant_replicas: int = env(
        "QDRANT_REPLICAS",
        1,
        "Copies of each shard of a new collection at `QDRANT_URL`, on different nodes. With 2 or "
        "more, searches and writes go on while a node is away.",
        ge=1,
    )
    collection_name: str = env("COLLECTION_NAME", "codebase", "Collection for code.")
    memory_collection_name: str = env(
        "MEMORY_COLLECTION_NAME", "memories", "Collection for memories; never the one for code."
    )
    threads_collection_name: str = env(
        "THREADS_COLLECTION_NAME", "threads", "Collection for thread entries; theirs alone."
    )
    knowledge_collection_name: str = env(
        "KNOWLEDGE_COLLECTION_NAME", "knowledge", "Collection for project knowledge; its alone."
    )
    conversations_collection_name: str = env(
        "CONVERSATIONS_COLLECTION_NAME",
        "conversations",
        "Collection for the messages of conversations; theirs alone.",
    )
    database_url: str | None = env(
        "DATABASE_URL",
        None,
        "`sqlite:///path/to/file` or `postgresql://user:password@host/name`. Unset: "
        "`records.sqlite` in the data folder.",
    )

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("secrets_dir")
    @classmethod
    def _secrets_folder_exists(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_dir():
            raise ValueError("must be an existing folder")
        return value

    @field_validator("qdrant_bin", "qdrant_ca_cert")
    @classmethod
    def _file_exists(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_file():
            raise ValueError("must be an existing file")
        return value

    @field_validator("database_url")
    @classmethod
    def _database_is_supported(cls, value: str | None) -> str | None:
        if value is not None and urlsplit(value).scheme not in DATABASES:
            raise ValueError("must be a sqlite:///path or a postgresql://host/name URL")
        return value

    @model_validator(mode="after")
    def _collections_differ(self) -> "StorageSettings":
        names = (
            self.collection_name,
            self.memory_collection_name,
            self.threads_collection_name,
            self.knowledge_collection_name,
            self.conversations_collection_name,
        )
        if len(set(names)) != len(names):
            raise ValueError(
                "COLLECTION_NAME, MEMORY_COLLECTION_NAME, THREADS_COLLECTION_NAME, "
                "KNOWLEDGE_COLLECTION_NAME and CONVERSATIONS_COLLECTION_NAME must differ"
            )
        return self

    @property
    def vectors_dir(self) -> Path:
        return self.data_dir / "vectors"

    @property
    def models_dir(self) -> Path:
        """The folder of downloaded models."""
        return self.data_dir / "models"

    @property
    def embedding_cache_path(self) -> Path:
        return self.data_dir / "embeddings.sqlite"

    @property
    def store_key(self) -> str:
        """The name of the configured Qdrant in the manifest of indexed files."""
        if self.qdrant_url:
            return str(self.qdrant_url)
        return "child" if self.qdrant_bin else "embedded"

    @property
    def index_state_path(self) -> Path:
        return self.data_dir / MANIFEST_FILE

    @property
    def records_url(self) -> str:
        if self.database_url is None:
            return f"sqlite:///{self.data_dir / 'records.sqlite'}"
        return self.database_url
