"""Settings of conversations: the sixteen options of their contract, and their REST port."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, field_validator
from pydantic_settings import NoDecode

from ctx_core.environment.ports import CONVERSATIONS, MAX_PORT
from ctx_core.settings.fields import env


def _parse_json_list(value: Any) -> Any:
    """Parse a list that is given as JSON text; what is no JSON fails the validation after it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


Pattern = Annotated[str, Field(min_length=1, max_length=256)]
JsonList = Annotated[tuple[Pattern, ...], NoDecode, BeforeValidator(_parse_json_list)]


class ConversationSettings(BaseModel):
    """How conversations are summarised, related, cleaned up and served.

    All but the first may also be given by `--config`, under their names in the contract.
    """

    conversations_rest: bool = env(
        "CTX_CONVERSATIONS_REST", True, "Serve the REST API of conversations on `PORT`."
    )
    message_limit_threshold: int = env(
        "MESSAGE_LIMIT_THRESHOLD",
        10,
        "Messages since the last summary that cause the next one.",
        ge=1,
    )
    token_limit_percentage: float = env(
        "TOKEN_LIMIT_PERCENTAGE",
        80.0,
        "Share of 4096 tokens, in percent, since the last summary that causes the next one.",
        gt=0,
        le=100,
    )
    context_dir: Path | None = env(
        "CONTEXT_DIR",
        None,
        "Folder of an earlier system's summaries, imported once at a start. Unset: nothing is "
        "imported.",
    )
    ignore_patterns: JsonList = env(
        "IGNORE_PATTERNS",
        (),
        'Context ids that are refused, as a JSON list of patterns: `["node_modules", "*.log"]`.',
    )
    auto_summarize: bool = env(
        "AUTO_SUMMARIZE", True, "Summarise conversations in the background as they grow."
    )
    hierarchical_context: bool = env(
        "HIERARCHICAL_CONTEXT", True, "Summarise parents from their children."
    )
    meta_summary_threshold: int = env(
        "META_SUMMARY_THRESHOLD",
        5,
        "Hierarchical summaries before a meta-summary is written.",
        ge=1,
    )
    max_hierarchy_depth: int = env(
        "MAX_HIERARCHY_DEPTH", 3, "Levels of parents above a conversation that summarise it.", ge=1
    )
    use_vector_db: bool = env(
        "USE_VECTOR_DB", True, "Compare conversations by vectors; otherwise by full text."
    )
    use_graph_db: bool = env("USE_GRAPH_DB", True, "Keep relationships of conversations.")
    similarity_threshold: float = env(
        "SIMILARITY_THRESHOLD",
        0.6,
        "From this similarity on, conversations are linked as similar.",
        ge=0,
        le=1,
    )
    auto_cleanup_contexts: bool = env(
        "AUTO_CLEANUP_CONTEXTS",
        False,
        "Clean up irrelevant conversations after automatic summaries too, not only when asked.",
    )
    track_api_calls: bool = env("TRACK_API_CALLS", True, "Count calls and their durations.")
    api_analytics_retention: int = env(
        "API_ANALYTICS_RETENTION", 30, "Days that counted calls are kept.", ge=1, le=36_500
    )
    fallback_to_keyword_match: bool = env(
        "FALLBACK_TO_KEYWORD_MATCH",
        True,
        "Compare conversations by full text where vectors are off or fail.",
    )
    conversations_port: int = env(
        *CONVERSATIONS, "Port of the REST API of conversations.", ge=1, le=MAX_PORT
    )

    @field_validator("context_dir")
    @classmethod
    def _folder_exists(cls, value: Path | None) -> Path | None:
        if value is None:
            return None
        folder = value.expanduser().absolute()
        if not folder.is_dir():
            raise ValueError("must be an existing folder")
        return folder


# The sixteen options that `--config` takes, by their names in the contract.
OPTIONS = {
    "".join(word if n == 0 else word.capitalize() for n, word in enumerate(words)): alias
    for alias in (
        str(field.validation_alias) for field in ConversationSettings.model_fields.values()
    )
    if not alias.startswith("CTX_")
    for words in [alias.lower().split("_")]
}
