"""What the REST API refuses, and how."""

import json

import httpx
import pytest

from tests.support.conversations import Rest, new_id
from tests.support.processes import Server

BOTH = "Missing required parameters: action and contextId are required"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, BOTH),
        ({"action": "add"}, BOTH),
        ({"contextId": "x"}, BOTH),
        ({"action": "", "contextId": "x"}, BOTH),
        (
            {"action": "add", "contextId": "x"},
            "Missing required parameters: role and content are required for add action",
        ),
        (
            {"action": "add", "contextId": "x", "role": "user", "content": ""},
            "Missing required parameters: role and content are required for add action",
        ),
        (
            {"action": "find_similar", "contextId": "x"},
            "Missing required parameter: searchText is required for find_similar action",
        ),
        (
            {"action": "add_relationship", "contextId": "x", "targetId": "y"},
            "Missing required parameters: targetId and relationshipType are required for "
            "add_relationship action",
        ),
        (
            {"action": "find_path", "contextId": "x"},
            "Missing required parameter: targetId is required for find_path action",
        ),
        (
            {
                "action": "add_relationship",
                "contextId": "x",
                "targetId": "y",
                "relationshipType": "owns",
            },
            "Invalid relationship type: owns",
        ),
        (
            {"action": "dance", "contextId": "x"},
            "Unknown action: dance. Supported actions are 'add', 'retrieve', 'summarize', "
            "'get_related', 'get_hierarchy', 'get_meta', 'find_similar', 'add_relationship', "
            "'find_path', and 'cleanup'",
        ),
    ],
)
def test_messages_of_the_contract(rest: Rest, given: dict[str, str], message: str) -> None:
    assert rest.refused(**given) == message


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"action": "add", "role": "robot", "content": "x"}, "role"),
        ({"action": "add", "role": "user", "content": "x", "importance": "huge"}, "importance"),
        ({"action": "add", "role": "user", "content": "a\x00b"}, "content"),
        ({"action": "add", "role": "user", "content": "x", "tags": "one"}, "tags"),
        ({"action": "retrieve", "limit": 0}, "limit"),
        ({"action": "retrieve", "limit": 2.5}, "limit"),
        ({"action": "retrieve", "cursor": -1}, "cursor"),
        ({"action": "find_similar", "searchText": "x", "limit": -1}, "limit"),
        ({"action": "get_related", "direction": "up"}, "direction"),
        ({"action": "cleanup", "undo": "maybe"}, "undo"),
    ],
)
def test_a_wrong_parameter_is_named(rest: Rest, given: dict[str, object], named: str) -> None:
    assert rest.refused(contextId="x", **given).startswith(f"Invalid parameter: {named}")


@pytest.mark.parametrize("id_", ["   ", "a\nb", "a\x00b", "x" * 257, 7, ["x"], {"a": 1}])
def test_a_wrong_context_id_is_named(rest: Rest, id_: object) -> None:
    assert "contextId" in rest.refused(action="retrieve", contextId=id_)


@pytest.mark.parametrize(
    "given",
    [
        '{"action":"retrieve","contextId":"\\ud800"}',
        '{"action":"add","contextId":"x","role":"user","content":"\\ud800"}',
        '{"action":"add","contextId":"x","role":"user","content":"y","tags":["\\udfff"]}',
        '{"action":"find_similar","contextId":"x","searchText":"\\ud800"}',
        '{"action":"find_path","contextId":"x","targetId":"\\ud800"}',
        '{"action":"get_meta","metaId":"\\ud800"}',
        '{"action":"\\ud800","contextId":"x"}',
    ],
)
def test_half_characters_are_refused(rest: Rest, given: str) -> None:
    response = rest.client.post("/tools/context_memory", content=given)
    assert response.status_code == 400, response.text


def test_a_long_wrong_value_is_cut(rest: Rest) -> None:
    assert len(rest.refused(action="x" * 100_000, contextId="x")) < 400


def test_an_ignored_context_names_the_pattern(rest: Rest) -> None:
    for id_, pattern in (("web/node_modules/x.js", "node_modules"), ("yarn.lock", "*.lock")):
        message = rest.refused(action="add", contextId=id_, role="user", content="x")
        assert message == f'Context ID "{id_}" matches ignore pattern "{pattern}"'


def test_a_context_is_not_related_to_itself(rest: Rest) -> None:
    id_ = new_id()
    message = rest.refused(
        action="add_relationship", contextId=id_, targetId=id_, relationshipType="parent"
    )
    assert message == f"A context cannot be related to itself: '{id_}'"


def test_a_context_is_not_above_and_below_another(rest: Rest) -> None:
    top, middle, low = new_id("top"), new_id("middle"), new_id("low")

    def named(source: str, type_: str, target: str) -> dict[str, str]:
        relation = {"contextId": source, "targetId": target, "relationshipType": type_}
        return {"action": "add_relationship", **relation}

    rest.act(**named(top, "parent", middle))
    rest.act(**named(low, "child", middle))
    for relation in (named(low, "parent", top), named(top, "child", low)):
        assert rest.refused(**relation) == (
            f"'{top}' is above '{low}' in the hierarchy: it cannot be its child too"
        )
    rest.act(**named(top, "parent", middle), strength=0.3)  # changes the weight
    rest.act(**named(low, "references", top))
    found = rest.act("get_hierarchy", contextId=top)["hierarchicalStructure"]
    assert found == {"children": [middle]}


@pytest.mark.parametrize("body", [b"{", b"", b"[1]", b'"add"', b"\xff\xfe", b"[" * 100_000, b"NaN"])
def test_a_body_that_is_no_json_object(rest: Rest, body: bytes) -> None:
    response = rest.client.post("/tools/context_memory", content=body)
    assert response.status_code == 400
    assert response.json()["success"] is False
    assert response.json()["message"].startswith("Invalid JSON request")


def test_a_huge_number_is_refused_or_clamped(rest: Rest) -> None:
    body = '{"action":"add_relationship","contextId":"n1","targetId":"n2",'
    body += '"relationshipType":"similar","strength":%s}'
    for number in ("1e999", "9" * 400, "1e308"):
        response = rest.client.post("/tools/context_memory", content=body % number)
        assert response.status_code in {200, 400}, response.text


def test_unknown_paths_and_methods_are_json(rest: Rest) -> None:
    assert rest.get("/nothing", status=404) == {"success": False, "message": "Not Found"}
    for method, path in (("POST", "/contexts"), ("DELETE", "/"), ("GET", "/tools/context_memory")):
        response = rest.client.request(method, path)
        assert response.status_code == 405
        assert response.json() == {"success": False, "message": "Method Not Allowed"}
        assert response.headers["allow"]


def test_a_body_beyond_the_limit_is_json_too(rest: Rest) -> None:
    content = json.dumps({"action": "add", "contextId": "x", "content": "y" * 20_000_000})
    response = rest.client.post("/tools/context_memory", content=content)
    assert response.status_code == 413
    assert response.json()["success"] is False
    assert "Request body too large" in response.json()["message"]


def test_foreign_hosts_and_origins_are_refused(server: Server) -> None:
    foreign = httpx.get(f"{server.rest}/contexts", headers={"Host": "evil.example"})
    assert foreign.status_code == 421
    assert foreign.json()["success"] is False
    origin = httpx.post(
        f"{server.rest}/tools/context_memory",
        json={"action": "get_meta"},
        headers={"Origin": "https://evil.example"},
    )
    assert origin.status_code == 403
    assert origin.json()["success"] is False


def test_queries_are_checked(rest: Rest) -> None:
    assert rest.get("/similar", status=400)["message"] == "Missing required parameter: text"
    assert "limit" in rest.get("/similar", status=400, text="x", limit="many")["message"]
    assert "type" in rest.get("/related/x", status=400, type="owns")["message"]
    assert "direction" in rest.get("/related/x", status=400, direction="up")["message"]
    assert "contextId" in rest.get("/related/", status=400)["message"]
