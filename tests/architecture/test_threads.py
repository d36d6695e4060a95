"""Blocking work runs in the pools of `core/blocking.py`: asyncio's own threads are few, are shared
by everything, and hold up the end of the process."""

import ast

from tests.architecture.test_imports import ROOT, sources

THREADS_OF_ASYNCIO = {"to_thread", "run_in_executor"}
# Who has threads or processes of its own, and why.
OWN_THREADS = {
    "services/ctx_core/llm/llamacpp.py": "a decoder must be used by one thread",
    "services/ctx_core/embedding/factory.py": "a model loads once, beside the start",
    "services/ctx_indexer/indexing/workers.py": "worker processes, or threads in their place",
}


def test_blocking_work_runs_in_the_pools() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr}"
        for path in sources()
        if str(path.relative_to(ROOT)) not in OWN_THREADS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in THREADS_OF_ASYNCIO
    ]
    assert found == []
