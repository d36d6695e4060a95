"""Tools that ask about code in other ways than a plain search."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctx_core.memories.reader import MemoryReader
from ctx_core.serving.service import Tool
from ctx_indexer.history.history import History
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.tools.code_search import CodeSearch
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.questions.context_search import context_tools
from ctx_indexer.tools.questions.history import history_tools
from ctx_indexer.tools.questions.info_request import info_tools
from ctx_indexer.tools.questions.purposes import purpose_tools


@dataclass(frozen=True)
class QuestionParts:
    """The parts that answer questions beside the index of code."""

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
