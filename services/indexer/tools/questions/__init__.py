"""Tools that ask about code in other ways than a plain search."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.core.memories.reader import MemoryReader
from services.core.serving.service import Tool
from services.indexer.history.history import History
from services.indexer.lookup.lookup import Lookup
from services.indexer.tools.code_search import CodeSearch
from services.indexer.tools.context import IndexerContext
from services.indexer.tools.questions.context_search import context_tools
from services.indexer.tools.questions.history import history_tools
from services.indexer.tools.questions.info_request import info_tools
from services.indexer.tools.questions.purposes import purpose_tools


@dataclass(frozen=True)
class QuestionParts:
    """What answers questions beside the index of code."""

    history: History
    memories: MemoryReader


def question_tools(
    context: IndexerContext, code: CodeSearch, lookup: Lookup, parts: QuestionParts
) -> Sequence[Tool]:
    """Build every question about code."""
    return [
        *purpose_tools(context, code, lookup),
        *info_tools(context, code),
        *context_tools(context, code, parts.memories),
        *history_tools(context, lookup, parts.history),
    ]
