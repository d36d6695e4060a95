"""The ten actions of POST /tools/context_memory, body by body."""

import time

import pytest

from tests.support.conversations import Rest, new_id

SUMMARY_KEYS = {
    "contextId",
    "summary",
    "lastUpdated",
    "messageCount",
    "codeBlocks",
    "importanceScore",
    "relatedContexts",
    "keyInsights",
    "version",
    "summaryBy",
}


# --- add and retrieve ----------------------------------------------------------------------


def test_added_messages_come_back_in_order_with_every_field(rest: Rest) -> None:
    id_ = new_id("src/a.js")
    before = time.time() * 1000
    body = rest.act(
        "add",
        contextId=id_,
        role="user",
        content="What does this function do?",
        importance="critical",
        tags=["b", "a", "a", " "],
    )
    assert body == {"success": True, "message": f"Message added to context '{id_}'"}
    rest.act("add", contextId=id_, role="assistant", content="It parses the header of a request.")
    found = rest.act("retrieve", contextId=id_)
    assert found["success"] is True
    assert found["message"] == f"Retrieved context for '{id_}'"
    assert found["summary"] is None
    assert found["totalMessages"] == 2
    first, second = found["messages"]
    assert before - 1000 <= first.pop("timestamp") <= second.pop("timestamp")
    assert first == {
        "role": "user",
        "content": "What does this function do?",
        "importance": "critical",
        "tags": ["a", "b"],
    }
    assert second["role"] == "assistant"
    assert id_ in rest.get("/contexts")["contextIds"]


def test_equal_messages_are_all_kept(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, "yes", "yes", "yes")
    assert len(rest.act("retrieve", contextId=id_)["messages"]) == 3


@pytest.mark.parametrize(
    ("content", "importance"),
    [
        ("This is urgent, the build is red since noon", "high"),
        ("note!important", "high"),
        ("How does it work", "medium"),
        ("ok", "low"),
        ("The parser now reads headers before bodies.", "medium"),
    ],
)
def test_importance_is_judged_where_none_is_given(
    rest: Rest, content: str, importance: str
) -> None:
    id_ = new_id()
    rest.add(id_, content)
    assert rest.act("retrieve", contextId=id_)["messages"][0]["importance"] == importance


def test_an_unknown_context_is_empty(rest: Rest) -> None:
    found = rest.act("retrieve", contextId=new_id())
    assert (found["success"], found["messages"], found["summary"]) == (True, [], None)


def test_a_long_context_comes_in_pages(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, *(f"message {n}" for n in range(7)))
    first = rest.act("retrieve", contextId=id_, limit=3)
    assert [each["content"] for each in first["messages"]] == [
        "message 4",
        "message 5",
        "message 6",
    ]
    second = rest.act("retrieve", contextId=id_, limit=3, cursor=first["nextCursor"])
    assert [each["content"] for each in second["messages"]] == [
        "message 1",
        "message 2",
        "message 3",
    ]
    last = rest.act("retrieve", contextId=id_, limit=3, cursor=second["nextCursor"])
    assert [each["content"] for each in last["messages"]] == ["message 0"]
    assert "nextCursor" not in last
    assert last["totalMessages"] == 7


def test_pages_of_long_messages_are_shorter(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, *("x" * 400_000 for _ in range(4)))
    first = rest.act("retrieve", contextId=id_)
    assert len(first["messages"]) == 2
    second = rest.act("retrieve", contextId=id_, cursor=first["nextCursor"])
    assert len(second["messages"]) == 2
    assert "nextCursor" not in second


# --- summaries -----------------------------------------------------------------------------


def test_a_summary_has_the_fields_of_the_contract(rest: Rest) -> None:
    id_ = new_id()
    code = "def key(tenant):\n    return tenant.id"
    rest.add(id_, f"Why is the cache shared by tenants?\n```python\n{code}\n```")
    rest.act("add", contextId=id_, role="assistant", content="The key lacks the tenant.")
    body = rest.act("summarize", contextId=id_)
    assert body["success"] is True
    assert body["message"] == f"Summary generated for context '{id_}'"
    summary = body["summary"]
    assert set(summary) == SUMMARY_KEYS
    assert summary["contextId"] == id_
    assert summary["messageCount"] == 2
    assert summary["version"] == 1
    assert summary["summaryBy"] == "extractive"
    assert summary["codeBlocks"] == [code]
    assert summary["keyInsights"] == ["Why is the cache shared by tenants?"]
    assert summary["importanceScore"] == 0.5
    assert summary["summary"].startswith(f"Summary of 2 messages for context {id_}.")
    assert rest.act("retrieve", contextId=id_)["summary"] == summary
    assert rest.act("summarize", contextId=id_)["summary"] == summary, "nothing new"
    rest.add(id_, "It is fixed now.")
    again = rest.act("summarize", contextId=id_)["summary"]
    assert (again["version"], again["messageCount"]) == (2, 3)
    assert again["codeBlocks"] == [code]


def test_nothing_to_summarise_is_no_success(rest: Rest) -> None:
    id_ = new_id()
    assert rest.act("summarize", contextId=id_) == {
        "success": False,
        "message": f"Could not generate summary for context '{id_}'",
        "reason": "the context has no messages",
    }


def test_a_context_is_summarised_after_so_many_messages(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, *(f"fact number {n} of this test" for n in range(3)))
    time.sleep(0.3)
    assert rest.act("retrieve", contextId=id_)["summary"] is None
    rest.add(id_, "fact number 3 of this test")
    found = rest.wait_for("retrieve", lambda body: body["summary"] is not None, contextId=id_)
    assert found["summary"]["messageCount"] == 4
    rest.add(id_, "one more")
    time.sleep(0.3)
    found = rest.act("retrieve", contextId=id_)
    assert found["summary"]["version"] == 1, "the count begins anew"


def test_two_important_messages_are_summarised_at_once(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, "Production is down", "The disk is full", importance="high")
    found = rest.wait_for("retrieve", lambda body: body["summary"] is not None, contextId=id_)
    assert found["summary"]["importanceScore"] == 1.0


# --- relationships -------------------------------------------------------------------------


def test_relationships_have_types_weights_and_directions(rest: Rest) -> None:
    a, b, c = new_id("a"), new_id("b"), new_id("c")
    body = rest.act(
        "add_relationship", contextId=a, targetId=b, relationshipType="references", strength=0.4
    )
    assert body["message"] == f"Added references relationship from '{a}' to '{b}'"
    rest.act("add_relationship", contextId=c, targetId=a, relationshipType="continues")
    found = rest.act("get_related", contextId=a)
    assert found["message"] == f"Retrieved related contexts for '{a}'"
    assert found["relatedContexts"] == [c, b], "the strongest first"
    assert rest.act("get_related", contextId=a, direction="outgoing")["relatedContexts"] == [b]
    assert rest.act("get_related", contextId=a, direction="incoming")["relatedContexts"] == [c]
    typed = rest.act("get_related", contextId=a, relationshipType="continues")
    assert typed["relatedContexts"] == [c]
    assert rest.get(f"/related/{a}")["relatedContexts"] == [c, b]


def test_a_weight_beyond_the_range_is_clamped_and_shown(rest: Rest) -> None:
    a, b = new_id(), new_id()
    arguments = {"contextId": a, "targetId": b, "relationshipType": "similar"}
    assert rest.act("add_relationship", **arguments)["strength"] == 0.8
    assert rest.act("add_relationship", **arguments, strength=7)["strength"] == 1.0
    assert rest.act("add_relationship", **arguments, strength=-1)["strength"] == 0.0
    assert rest.act("get_related", contextId=a)["relatedContexts"] == [b], "one relationship"


def test_the_shortest_path_prefers_heavy_relationships(rest: Rest) -> None:
    a, b, c, d = new_id("a"), new_id("b"), new_id("c"), new_id("d")

    def relate(source: str, target: str, strength: float) -> None:
        rest.act(
            "add_relationship",
            contextId=source,
            targetId=target,
            relationshipType="references",
            strength=strength,
        )

    relate(a, b, 1.0)
    relate(b, c, 1.0)
    relate(a, c, 0.3)
    relate(c, a, 1.0)
    found = rest.act("find_path", contextId=a, targetId=c)
    assert found["path"] == [a, b, c]
    assert found["message"] == f"Found path with 3 nodes between '{a}' and '{c}'"
    nothing = rest.act("find_path", contextId=a, targetId=d)
    assert nothing["path"] == []
    assert nothing["message"] == f"No path found between '{a}' and '{d}'"
    itself = rest.act("find_path", contextId=a, targetId=a)
    assert itself["path"] == [a]
    assert itself["message"] == f"Found path with 1 nodes between '{a}' and '{a}'"
    assert rest.act("find_path", contextId=b, targetId=a)["path"] == [b, c, a], "directed"


# --- hierarchies and meta-summaries ---------------------------------------------------------


def test_parents_are_summarised_from_their_children(rest: Rest) -> None:
    for _ in range(2):  # the environment's META_SUMMARY_THRESHOLD is before --config
        parent, child = new_id("parent"), new_id("child")
        rest.add(child, "The importer reads rows in batches of a thousand.")
        rest.act("add_relationship", contextId=parent, targetId=child, relationshipType="parent")
        rest.act("summarize", contextId=child)
        found = rest.wait_for(
            "get_hierarchy", lambda body: "hierarchicalSummary" in body, contextId=parent
        )
        assert found["message"] == f"Retrieved hierarchical information for '{parent}'"
        assert found["hierarchicalStructure"] == {"children": [child]}
        summary = found["hierarchicalSummary"]
        assert set(summary) == {
            "parentContextId",
            "childContextIds",
            "summary",
            "lastUpdated",
            "version",
            "summaryBy",
        }
        assert summary["parentContextId"] == parent
        assert summary["childContextIds"] == [child]
        assert summary["summary"].startswith("Hierarchical summary for 1 related contexts.")
        inside = rest.act("get_hierarchy", contextId=child)
        assert inside["hierarchicalStructure"] == {"parent": parent, "children": []}
        assert parent in rest.get("/hierarchies")["hierarchicalIds"]
    listed = rest.wait_for("get_meta", lambda body: body["metaSummaryIds"] != [])
    [meta] = listed["metaSummaryIds"]
    assert listed["message"] == "Retrieved 1 meta-summary IDs"
    found = rest.wait_for(
        "get_meta", lambda body: parent in body["metaSummary"]["contextIds"], metaId=meta
    )
    assert found["message"] == f"Retrieved meta-summary '{meta}'"
    assert set(found["metaSummary"]) == {
        "id",
        "summary",
        "contextIds",
        "lastUpdated",
        "version",
        "summaryBy",
    }
    assert rest.get("/meta-summaries")["metaSummaryIds"] == [meta], "one, updated"


def test_an_unknown_meta_summary_is_no_success(rest: Rest) -> None:
    assert rest.act("get_meta", metaId="none", contextId="ignored") == {
        "success": False,
        "message": "Meta-summary with ID 'none' not found",
    }


# --- similarity and cleanup ----------------------------------------------------------------


def test_similar_contexts_are_found_by_vectors(rest: Rest) -> None:
    near, far = new_id("near"), new_id("far")
    rest.add(near, "The zebra enclosure at the zoo needs a new fence")
    rest.add(far, "Quarterly revenue grew by three percent")
    body = rest.act("find_similar", contextId=near, searchText="fences for zebras", limit=50)
    assert (
        body["message"]
        == f"Found {len(body['similarContexts'])} similar contexts to the search text"
    )
    assert body["comparedBy"] == "vectors"
    assert "degraded" not in body
    assert body["similarContexts"][0]["contextId"] == near
    scores = {each["contextId"]: each["similarity"] for each in body["similarContexts"]}
    assert 0.4 < scores[near] <= 1
    assert scores.get(far, 0) < scores[near]
    few = rest.act("find_similar", contextId=near, searchText="fences for zebras", limit=0)
    assert len(few["similarContexts"]) <= 5


def test_cleanup_says_why_it_removes_nothing(rest: Rest) -> None:
    body = rest.act("cleanup", contextId=new_id())
    assert body["message"] == "Cleaned up 0 irrelevant contexts"
    assert body["cleanedContexts"] == []
    assert body["reason"]
    undone = rest.act("cleanup", contextId=new_id(), undo=True)
    assert undone["restoredContexts"] == []
