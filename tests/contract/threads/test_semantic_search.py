"""`semantic_search_context`: entries by meaning."""

import pytest

from tests.support.contract import Thread
from tests.support.thread_samples import ENTRIES, sample_number

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_meaning_is_found_without_the_words(filled: Thread) -> None:
    body = await filled.search(
        "semantic_search_context", query="which hues does our website use", limit=1
    )
    [hit] = body["results"]
    assert sample_number(hit) == 3
    assert hit["scores"]["semantic_rank"] is None
    assert 0 < hit["scores"]["semantic_distance"] < 2


async def test_distances_grow(filled: Thread) -> None:
    body = await filled.search("semantic_search_context", query="payment queue")
    distances = [hit["scores"]["semantic_distance"] for hit in body["results"]]
    assert distances == sorted(distances)
    exact = await filled.search("semantic_search_context", query=ENTRIES[3]["text"], limit=1)
    assert exact["results"][0]["scores"]["semantic_distance"] == pytest.approx(0, abs=0.01)


async def test_a_long_text_is_found_by_its_end_and_appears_once(thread: Thread) -> None:
    filler = " ".join(f"Paragraph {n} reports on the weather of week {n}." for n in range(60))
    id_ = await thread.store(f"{filler} The certificate of the mail relay expires in May.")
    await thread.store("Weather was fine all week")
    for name in ("semantic_search_context", "hybrid_search_context"):
        body = await thread.search(name, query="mail relay certificate expires")
        assert [hit["id"] for hit in body["results"]].count(id_) == 1
        assert body["results"][0]["id"] == id_
