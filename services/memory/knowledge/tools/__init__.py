"""The twenty-seven knowledge tools, in the words of their contract."""

from collections.abc import Sequence
from dataclasses import replace

from services.core.serving.service import Tool
from services.memory.knowledge.service import Knowledge
from services.memory.knowledge.tools.entries import entry_tools
from services.memory.knowledge.tools.records import record_tools
from services.memory.knowledge.tools.skills import skill_tools
from services.memory.knowledge.tools.sync import sync_tools


def knowledge_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return every knowledge tool."""
    tools = [
        *entry_tools(knowledge),
        *skill_tools(knowledge),
        *record_tools(knowledge),
        *sync_tools(knowledge),
    ]
    # A misspelt `scope` must not make public what was meant to be private.
    return [replace(tool, strict=tool.writes) for tool in tools]
