"""`ctx ask` and `ctx prompt` in a project, without a server and without a model."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctx.cli import cli
from ctx.commands.code.ask import relevant_lines
from tests.support.corpus import FILES
from tests.support.repositories import Repository


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository = Repository.create(tmp_path / "shop")
    for name, text in FILES.items():
        repository.write(name, text)
    repository.commit()
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CTX_INDEX_WORKERS", "1")
    monkeypatch.setenv("CTX_INDEXER_HTTP_PORT", "9")  # nothing runs there
    monkeypatch.chdir(repository.root)
    return repository.root


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def test_less_relevant_lines_of_a_quoted_answer_are_left_out() -> None:
    """A model's sentences stay: it chose them."""
    sources = [
        {"id": 1, "relevance": 0.7},
        {"id": 2, "relevance": 0.35},
        {"id": 3, "relevance": 0.3},
    ]
    answer = "Best [1]\nA caller [2]\nFar [3]\nFar and best [1][3]\nNo source"
    body = {"answer": answer, "citations": sources, "decoder_used": "extractive"}
    kept = ["Best [1]", "A caller [2]", "Far and best [1][3]", "No source"]
    assert relevant_lines(body) == kept
    assert len(relevant_lines(body | {"decoder_used": "a model"})) == 5
    assert relevant_lines(body | {"citations": [], "answer": "Not found."}) == ["Not found."]


@pytest.mark.slow
def test_questions_and_prompts(project: Path) -> None:
    asked = run("ask", "How are failed calls retried with backoff?")
    assert asked.return_value == 0
    assert "src/net/retry.py:" in asked.stdout
    assert "[1]" not in asked.stdout
    nothing = run("ask", "Where is the OpenGL texture atlas built?")
    assert (nothing.return_value, nothing.stdout) == (1, "Not found in the code.\n")
    body = json.loads(run("ask", "retry policy", "--under", "src/legacy", "--json").stdout)
    assert {each["path"] for each in body["citations"]} == {"src/legacy/retry.py"}

    prompt = run("prompt", "add a limit to the retry policy").stdout
    assert prompt.startswith(
        "add a limit to the retry policy\n\nRelevant code:\n- src/net/retry.py:"
    )
    assert "class RetryPolicy" not in prompt
    detailed = run("prompt", "retry policy", "--detail", "--kind", "class").stdout
    assert "class RetryPolicy" in detailed
    received = project / "received.txt"
    assert run("prompt", "retry policy", "--cmd", f"tee {received}").return_value == 0
    assert "Relevant code:" in received.read_text()
