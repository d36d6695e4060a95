"""Tools that ask about code in other ways than a plain search."""

from collections.abc import Sequence

from services.core.serving.service import Tool
from services.indexer.lookup.lookup import Lookup
from services.indexer.tools.code_search import CodeSearch
from services.indexer.tools.context import IndexerContext
from services.indexer.tools.questions.info_request import info_tools
from services.indexer.tools.questions.purposes import purpose_tools


def question_tools(context: IndexerContext, code: CodeSearch, lookup: Lookup) -> Sequence[Tool]:
    """Build every question about code."""
    return [*purpose_tools(context, code, lookup), *info_tools(context, code)]
