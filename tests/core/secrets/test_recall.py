"""Secrets of thirty formats are found, and nothing of them is left."""

from collections import Counter

from ctx_core.secrets.filenames import is_secret_name
from ctx_core.secrets.redaction import redact
from scripts.bench.corpora.planted_secrets import FORMATS, Planted, planted

LEAST_FOUND = 0.99
LEFT = 8  # characters of a secret that must not stand in the text any more


def _is_leaked(each: Planted) -> bool:
    if is_secret_name(each.path):
        return False  # such a file is never read
    text = redact(each.text, each.path).text
    parts = (each.secret[at : at + LEFT] for at in range(max(1, len(each.secret) - LEFT + 1)))
    return any(part in text for part in parts)


def test_planted_secrets_are_found() -> None:
    corpus = list(planted())
    assert len(corpus) == 300
    assert len(FORMATS) == 30
    leaked = Counter(each.format for each in corpus if _is_leaked(each))
    assert leaked.total() <= (1 - LEAST_FOUND) * len(corpus), leaked


def test_the_corpus_is_found_with_every_seed() -> None:
    """The rules do not know one corpus by heart."""
    corpora = [each for seed in range(20) for each in planted(seed)]
    leaked = Counter(each.format for each in corpora if _is_leaked(each))
    assert leaked.total() <= (1 - LEAST_FOUND) * len(corpora), leaked


def test_lines_keep_their_numbers() -> None:
    for each in planted():
        text = redact(each.text, each.path).text
        assert text.count("\n") == each.text.count("\n"), each.path
