"""The settings of the memory server: records, threads, their search and their summaries.

Fields only: `settings.py` reads them, together with all others.
"""

from typing import Any, Literal

from pydantic import AnyHttpUrl, BaseModel, Field, SecretStr, model_validator

# The languages that PostgreSQL stems; SQLite stems English and compares the others as written.
Language = Literal[
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "simple",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
]

PROSE_MODEL = "static-minilm-256"  # the one for code is poor at everyday words
# The fields that the contract of the thread tools promises to index.
DEFAULT_INDEXED_FIELDS = (
    "status",
    "agent_name",
    "task_name",
    "project",
    "report_type",
    "references",
    "technologies",
)


def env(name: str, default: Any, description: str, **limits: Any) -> Any:
    """A field read from exactly one environment variable."""
    return Field(default, validation_alias=name, description=description, **limits)


class MemorySettings(BaseModel):
    """What only the memory server asks for."""

    threads_collection_name: str = env(
        "THREADS_COLLECTION_NAME", "threads", "Collection for thread entries; theirs alone."
    )

    memory_embedding_model: str | None = env(
        "MEMORY_EMBEDDING_MODEL",
        None,
        "Dense model for memories and threads. Unset: EMBEDDING_MODEL, or where that is unset too "
        f"`{PROSE_MODEL}`.",
    )

    # Searching threads
    fts_language: Language = env(
        "FTS_LANGUAGE",
        "english",
        "Language of full-text search. PostgreSQL stems all of them, SQLite English; `simple` "
        "stems nothing.",
    )
    search_truncation_length: int = env(
        "SEARCH_TRUNCATION_LENGTH",
        300,
        "Characters of an entry's text that a search shows; the cut is at a word.",
        ge=20,
    )
    hybrid_rrf_k: int = env(
        "HYBRID_RRF_K",
        60,
        "Smoothing of reciprocal rank fusion where a hybrid search names none.",
        ge=1,
        le=1000,
    )
    chunk_size: int = env(
        "CHUNK_SIZE", 1500, "Longer texts are embedded in chunks of so many characters.", ge=200
    )
    chunk_overlap: int = env(
        "CHUNK_OVERLAP",
        150,
        "Characters that neighbouring chunks share; at most half of them.",
        ge=0,
    )
    enable_reranking: bool = env(
        "ENABLE_RERANKING",
        True,
        "Let RERANK_MODEL, where it is set, order the best results of a thread search.",
    )

    # Storing in threads
    max_image_size_mb: float = env(
        "MAX_IMAGE_SIZE_MB",
        10.0,
        "Largest image of an entry; over HTTP the request must fit CTX_MAX_BODY_BYTES too.",
        gt=0,
    )
    max_total_size_mb: float = env(
        "MAX_TOTAL_SIZE_MB", 100.0, "Largest sum of the images of one entry.", gt=0
    )

    # Summaries
    enable_summary_generation: bool = env(
        "ENABLE_SUMMARY_GENERATION",
        True,
        "Summarise long thread entries in the background: by the configured decoder, or by the "
        "best sentences where there is none.",
    )
    summary_min_content_length: int = env(
        "SUMMARY_MIN_CONTENT_LENGTH", 300, "Shorter texts need no summary.", ge=1
    )
    summary_max_tokens: int = env(
        "SUMMARY_MAX_TOKENS", 2000, "Longest summary, in tokens.", ge=16, le=32_000
    )

    # Decoder
    decoder_url: AnyHttpUrl | None = env(
        "DECODER_URL",
        None,
        "An OpenAI-compatible server that writes summaries. Unset: `DECODER_MODEL`, else none.",
    )
    decoder_api_key: SecretStr | None = env("DECODER_API_KEY", None, "API key for `DECODER_URL`.")
    decoder_model: str | None = env(
        "DECODER_MODEL",
        None,
        "The model's name at `DECODER_URL`; without that the path of a GGUF file for llama.cpp "
        "(`pip install 'ctx-engine[llm]'`).",
    )
    decoder_timeout_seconds: float = env(
        "DECODER_TIMEOUT_SECONDS", 120.0, "Longest time for one text of the decoder.", gt=0
    )
    decoder_context_tokens: int = env(
        "DECODER_CONTEXT_TOKENS",
        8192,
        "Prompt and answer together. A server of its own must hold as many.",
        ge=512,
    )

    @model_validator(mode="after")
    def _chunks_advance(self) -> "MemorySettings":
        if self.chunk_overlap * 2 > self.chunk_size:
            raise ValueError(
                f"CHUNK_OVERLAP={self.chunk_overlap} must not exceed half of "
                f"CHUNK_SIZE={self.chunk_size}"
            )
        return self
