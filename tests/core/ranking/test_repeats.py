"""Near-duplicates are shown once, at the place of the best."""

import pytest

from ctx_core.ranking.repeats import says_the_same, without_repeats
from ctx_core.ranking.scoring import ScoredEntry
from ctx_core.text.tokens import text_terms

LONG = "Deployments run every Friday at noon from the main branch after all tests have passed"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Deploys run on Fridays", "deploys RUN on Fridays!"),
        ("Deploys run on Fridays", "The deploy runs on a Friday."),
        (LONG, f"{LONG} again"),
        ("a b c", "a b c"),
    ],
)
def test_the_same_in_other_forms(first: str, second: str) -> None:
    assert says_the_same(text_terms(first), text_terms(second))
    assert says_the_same(text_terms(second), text_terms(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna likes Tom", "Tom likes Anna"),
        (LONG, LONG.replace("Friday", "Monday")),
        (LONG, LONG.replace("run", "do not run")),
        (LONG, LONG.replace("run", "don't run")),
        (f"{LONG} version 1", f"{LONG} version 2"),
        (LONG, f"{LONG} 3"),
        ("Redis", "We use Redis for caching sessions"),
    ],
)
def test_something_else(first: str, second: str) -> None:
    assert not says_the_same(text_terms(first), text_terms(second))
    assert not says_the_same(text_terms(second), text_terms(first))


def test_the_best_of_several_stays() -> None:
    texts = {1: "use tabs", 2: "Use tabs.", 3: "use spaces", 4: "use tabs", 5: "?!", 6: "!!"}
    ranked = [ScoredEntry(id_, 9.0 - id_) for id_ in texts]
    assert [each.id for each in without_repeats(ranked, texts, 9)] == [1, 3, 5, 6]
    assert [each.id for each in without_repeats(ranked, texts, 2)] == [1, 3]
