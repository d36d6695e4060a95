"""The twenty-seven knowledge tools, in the words of their contract."""

from collections.abc import Sequence
from dataclasses import replace

from ctx_core.serving.service import Tool
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.tools.entries import entry_tools
from ctx_memory.knowledge.tools.records import record_tools
from ctx_memory.knowledge.tools.skills import skill_tools
from ctx_memory.knowledge.tools.sync import sync_tools


def knowledge_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return every knowledge tool."""
    tools = [
        *entry_tools(knowledge),
        *skill_tools(knowledge),
        *record_tools(knowledge),
        *sync_tools(knowledge),
    ]
    # A misspelt `scope` must not make a private entry public.
    return [replace(tool, strict=tool.writes) for tool in tools]
