"""Summaries of conversations by a real decoder: llama.cpp over HTTP, with a small model."""

from pathlib import Path

import pytest

from tests.support.conversations import Rest
from tests.support.llama_server import CONTEXT_TOKENS, llama_server
from tests.support.processes import environment, running

MODEL = "smollm2"
MESSAGES = (
    "The payment queue drops messages when the worker restarts.",
    "We decided to acknowledge a message only after the transaction commits.",
    "The retry limit is three, and Ada owns the change.",
)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_contexts_and_parents_are_summarised_by_the_decoder(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    port = int(env["CTX_INDEXER_HTTP_PORT"])  # free: only the memory server runs
    with llama_server(port) as url:
        decoder = {
            "DECODER_URL": url,
            "DECODER_MODEL": MODEL,
            "DECODER_CONTEXT_TOKENS": str(CONTEXT_TOKENS),
            "SUMMARY_MAX_TOKENS": "96",
            "MESSAGE_LIMIT_THRESHOLD": "3",
        }
        with running(env | decoder, "-m", "ctx_memory") as server:
            rest = Rest(server.rest)
            rest.client.timeout = 300
            rest.add("queue", *MESSAGES)
            first = rest.act("summarize", contextId="queue")["summary"]
            assert (first["summaryBy"], first["messageCount"]) == (MODEL, 3)
            assert "message" in first["summary"].lower()
            assert "Could not" not in first["summary"]
            rest.add("queue", "Bo measured 40 messages a second.")
            second = rest.act("summarize", contextId="queue")["summary"]
            assert (second["version"], second["messageCount"]) == (first["version"] + 1, 4)
            rest.act(
                "add_relationship",
                contextId="payments",
                targetId="queue",
                relationshipType="parent",
            )
            found = rest.wait_for(
                "get_hierarchy",
                lambda body: "hierarchicalSummary" in body,
                contextId="payments",
            )
            assert found["hierarchicalSummary"]["summaryBy"] == MODEL
            assert found["hierarchicalSummary"]["summary"]
            rest.client.close()
