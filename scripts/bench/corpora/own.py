"""The project's own documents and history as entries, and questions about them."""

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

QUESTIONS = Path(__file__).parent / "recall_questions.json"
MAX_LENGTH = 1_200  # characters of an entry
MIN_LENGTH = 40  # shorter paragraphs are captions


def own_questions() -> Sequence[tuple[str, str]]:
    """Return questions, each with a phrase that only the entries with its answer have."""
    return [(each["question"], each["phrase"]) for each in json.loads(QUESTIONS.read_text())]


def own_entries(root: Path) -> list[str]:
    """Return the paragraphs of the documents and the messages of the commits."""
    documents = [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md"))]
    paragraphs = [text for path in documents for text in _paragraphs(path.read_text("utf-8"))]
    return list(dict.fromkeys([*paragraphs, *_commits(root)]))


def _paragraphs(document: str) -> Iterator[str]:
    """Yield paragraphs, items of lists and rows of tables."""
    for block in re.split(r"\n\s*\n|\n(?=- |\| )", document):
        text = " ".join(block.split())
        if len(text) >= MIN_LENGTH:
            yield text[:MAX_LENGTH]


def _commits(root: Path) -> list[str]:
    command = ["git", "log", "--format=%B%x00"]
    log = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return [" ".join(each.split())[:MAX_LENGTH] for each in log.split("\0") if each.strip()]
