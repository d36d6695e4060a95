"""`context_answer` without a decoder: the sources' own sentences, with citations that hold."""

import re
from pathlib import Path

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = {
    "ok",
    "answer",
    "citations",
    "query",
    "used_context_tokens",
    "generation_time_ms",
    "decoder_used",
}
QUESTION = "How long does a failed call wait before it is retried?"


async def test_the_documented_keys(engine: Engine) -> None:
    body = await engine.call("context_answer", query=QUESTION)
    assert body.keys() == KEYS
    assert body["query"] == [QUESTION]
    assert body["decoder_used"] == "extractive"
    assert body["used_context_tokens"] > 0
    assert body["generation_time_ms"] >= 0
    first = body["citations"][0]
    assert first.keys() == {
        *("id", "path", "start_line", "end_line", "symbol", "relevance", "snippet")
    }
    assert 0 < first["relevance"] <= 1


async def test_the_answer_is_short_and_quotes_the_docstring(engine: Engine) -> None:
    text = await engine.text("context_answer", query="Where is the exponential backoff delay?")
    assert "Exponential backoff with jitter, so that clients do not come back in lockstep" in text
    assert "`RetryPolicy" in text
    assert len(text) < 2_500


async def test_every_line_cites_a_source_that_holds_it(engine: Engine) -> None:
    body = await engine.call("context_answer", query=QUESTION)
    cited = {each["id"]: each for each in body["citations"]}
    for line in body["answer"].splitlines():
        said, number = re.fullmatch(r"(.+) \[(\d+)\]", line).groups()  # type: ignore[union-attr]
        source = cited[int(number)]
        rows = (engine.workspace / source["path"]).read_text().splitlines()
        lines = " ".join(" ".join(rows[source["start_line"] - 1 : source["end_line"]]).split())
        sentence = said.rpartition("`: ")[2].strip("`")
        assert sentence in lines or source["symbol"] in said
    assert {int(n) for n in re.findall(r"\[(\d+)\]$", body["answer"], re.M)} == cited.keys()


async def test_snippets_are_the_lines_on_disk(engine: Engine) -> None:
    body = await engine.call("context_answer", query=QUESTION)
    for each in body["citations"]:
        rows = (engine.workspace / each["path"]).read_text().splitlines()
        assert rows[each["start_line"] - 1] == each["snippet"].split("\n")[0]
    without = await engine.call("context_answer", query=QUESTION, include_snippet=False)
    assert all("snippet" not in each for each in without["citations"])


@pytest.mark.parametrize(
    "question",
    [
        "How are Kafka partitions rebalanced between consumers?",
        "Where is the OpenGL texture atlas built?",
        "How does the robot arm solve inverse kinematics?",
    ],
)
async def test_what_the_code_does_not_have_is_not_found(engine: Engine, question: str) -> None:
    body = await engine.call("context_answer", query=question)
    assert body["answer"] == "Not found in the code."
    assert body["citations"] == []
    assert await engine.text("context_answer", query=question) == "Not found in the code."


async def test_callers_of_the_asked_symbol_are_sources(engine: Engine) -> None:
    body = await engine.call("context_answer", query="What does RetryPolicy do?")
    assert "(calls RetryPolicy)" in body["answer"]
    callers = [each for each in body["citations"] if each["symbol"] == "with_retry"]
    assert callers


async def test_what_calls_the_asked_symbol_and_what_it_calls_are_sources(engine: Engine) -> None:
    name = "charge_customer"
    body = await engine.call("context_answer", query=f"What does {name} do?", symbol=name)
    roles = re.findall(rf"`(\w+)[^`]*` \((\D+) {name}\)", body["answer"])
    assert roles == [
        ("charge_latest", "calls"),  # its path has "test" in it, and is none
        ("test_one", "calls"),
        ("receipt", "called by"),
    ]


async def test_filters_are_those_of_repo_search(engine: Engine) -> None:
    body = await engine.call("context_answer", query="retry a call", under="src/legacy")
    assert {each["path"] for each in body["citations"]} == {"src/legacy/retry.py"}
    body = await engine.call("context_answer", query="sign a session", language="typescript")
    assert {Path(each["path"]).suffix for each in body["citations"]} == {".ts"}
    wrong = await engine.call("context_answer", query="retry", language="klingon")
    assert (wrong["ok"], wrong["error_code"]) == (False, "VALIDATION_ERROR")


async def test_mode_pack_answers_each_query(engine: Engine) -> None:
    queries = ["How are calls retried with backoff?", "How is a session cookie signed?"]
    body = await engine.call("context_answer", query=queries, mode="pack")
    assert list(body["answers_by_query"]) == queries
    retry, session = body["answers_by_query"].values()
    assert "src/net/retry.py" in {each["path"] for each in retry["citations"]}
    assert "src/auth/session.ts" in {each["path"] for each in session["citations"]}
    stitched = await engine.call("context_answer", query=queries)
    assert "answers_by_query" not in stitched
    assert stitched["query"] == queries


async def test_the_budget_bounds_the_sources(engine: Engine) -> None:
    small = await engine.call("context_answer", query=QUESTION, budget_tokens=100)
    large = await engine.call("context_answer", query=QUESTION, budget_tokens=4000)
    assert 0 < small["used_context_tokens"] <= 150  # the last source may be a little longer
    assert large["used_context_tokens"] > small["used_context_tokens"]
    wrong = await engine.call("context_answer", query=QUESTION, budget_tokens=5)
    assert not wrong["ok"]


async def test_a_changed_file_is_quoted_as_it_is_now(engine: Engine) -> None:
    file = engine.workspace / "src/net/pool.py"
    before = file.read_text()
    file.write_text("# a new line\n\n" + before.replace("Wait for a", "Block until there is a"))
    try:
        body = await engine.call("context_answer", query="How does acquire wait for a connection?")
    finally:
        file.write_text(before)
    assert "Block until there is a connection" in body["answer"]
    assert any("index is behind" in each for each in body["warnings"])
