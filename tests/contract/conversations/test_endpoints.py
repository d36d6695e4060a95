"""The endpoints beside the tool, and the OpenAPI document fuzzed against the server."""

import os
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import GenerationMode

from tests.support.conversations import Rest, new_id
from tests.support.processes import Server

CASES = int(os.environ.get("FUZZ_CASES", "25"))  # of each operation: the suite stays short


def test_the_information_shows_the_tool(rest: Rest) -> None:
    body = rest.get("/")
    assert set(body) == {"name", "description", "version", "tools"}
    [tool] = body["tools"]
    assert tool["name"] == "context_memory"
    assert set(tool) == {"name", "description", "input_schema", "output_schema"}
    contract = {
        "action",
        "contextId",
        "role",
        "content",
        "importance",
        "tags",
        "metaId",
        "searchText",
        "limit",
        "targetId",
        "relationshipType",
        "strength",
    }
    assert contract <= set(tool["input_schema"]["properties"])
    assert "$ref" not in str(tool)


def test_every_context_is_listed_by_its_own_id(rest: Rest) -> None:
    id_ = new_id("src/a b:c*?.js")
    rest.add(id_, "one message and no summary")
    body = rest.get("/contexts")
    assert body["message"] == f"Retrieved {len(body['contextIds'])} context IDs"
    assert id_ in body["contextIds"]


def test_similar_contexts_by_query(rest: Rest) -> None:
    id_ = new_id()
    rest.add(id_, "Lighthouse keepers polish the lens every morning")
    body = rest.get("/similar", text="polishing a lighthouse lens", limit=1)
    assert body["message"] == "Found 1 similar contexts"
    assert body["similarContexts"][0]["contextId"] == id_
    assert body["comparedBy"] == "vectors"


def test_related_contexts_of_an_id_with_slashes(rest: Rest) -> None:
    a, b = new_id("src/deep/a.js"), new_id("b")
    rest.act("add_relationship", contextId=a, targetId=b, relationshipType="child")
    body = rest.get(f"/related/{a}", type="child", direction="outgoing")
    assert body["message"] == f"Found 1 related contexts for '{a}'"
    assert body["relatedContexts"] == [b]
    assert rest.get(f"/related/{b}", type="parent", direction="outgoing")["relatedContexts"] == [a]
    assert rest.get(f"/related/{b}", type="parent", direction="incoming")["relatedContexts"] == []


def test_the_document_has_the_limits_of_numbers(rest: Rest) -> None:
    schemas = rest.get("/openapi.json")["components"]["schemas"]
    [similar, _] = schemas["FindSimilar"]["properties"]["limit"]["anyOf"]
    assert similar == {"type": "integer", "minimum": 0, "maximum": 50}
    [page, _] = schemas["Retrieve"]["properties"]["limit"]["anyOf"]
    assert page == {"type": "integer", "minimum": 1, "maximum": 1000}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_the_openapi_document_is_true(rest: Rest, server: Server, mode: GenerationMode) -> None:
    """Every operation keeps to the document, whatever it is sent."""
    schema = schemathesis.openapi.from_dict(rest.get("/openapi.json"))
    fuzzed = []
    for found in schema.get_all_operations():
        operation: Any = cast(Any, found).ok()
        if mode is GenerationMode.NEGATIVE and not (operation.query or operation.body):
            continue  # nothing to get wrong
        _fuzz(operation, mode, server.rest)
        fuzzed.append(operation.label)
    assert len(fuzzed) == (8 if mode is GenerationMode.POSITIVE else 3)


def _relates_to_itself(body: Any) -> bool:
    """Whether a relationship has one end only, which a schema cannot forbid."""
    if not isinstance(body, dict) or body.get("action") != "add_relationship":
        return False
    return bool(body.get("contextId") == body.get("targetId"))


def _fuzz(operation: Any, mode: GenerationMode, url: str) -> None:
    @settings(max_examples=CASES, suppress_health_check=list(HealthCheck), deadline=None)
    @given(operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        assume(not _relates_to_itself(case.body))
        case.call_and_validate(base_url=url)

    check()
