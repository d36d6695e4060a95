"""Settings of project knowledge."""

from pydantic import BaseModel

from ctx_core.settings.fields import env


class KnowledgeSettings(BaseModel):
    """Who writes knowledge, where it is created, and when it is shared."""

    mcp_caller: str | None = env(
        "MCP_CALLER",
        None,
        "Author of what is written, such as `mcp:claude-code`. Unset: the client's own name.",
    )
    no_auto_init: bool = env(
        "CTX_NO_AUTO_INIT", False, "Never create a knowledge folder; refuse the write instead."
    )
    knowledge_push_on_stop: bool = env(
        "CTX_KNOWLEDGE_PUSH_ON_STOP",
        True,
        "When the server stops, push the knowledge that was written in this run.",
    )
