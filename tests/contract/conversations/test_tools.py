"""The MCP tools of conversations, through a real client."""

import json
from typing import Any

from fastmcp import Client
from mcp_types import TextContent

from tests.support.conversations import new_id


async def call(mcp: "Client[Any]", name: str, **arguments: Any) -> tuple[list[str], Any]:
    """Return the text blocks and the structured content of a call that succeeds."""
    answer = await mcp.call_tool_mcp(name, arguments)
    assert not answer.is_error, answer.content
    texts = [block.text for block in answer.content if isinstance(block, TextContent)]
    return texts, answer.structured_content


async def refused(mcp: "Client[Any]", name: str, **arguments: Any) -> str:
    answer = await mcp.call_tool_mcp(name, arguments)
    assert answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["error_code"] == "VALIDATION_ERROR"
    body = answer.structured_content
    return str(body["message"] if "message" in body else body["error"])


async def test_ping(mcp: "Client[Any]") -> None:
    assert (await call(mcp, "ping"))[0] == ["pong"]


async def test_a_message_is_added_and_retrieved(mcp: "Client[Any]") -> None:
    id_ = new_id()
    texts, _ = await call(mcp, "add_message", contextId=id_, message="hello there", role="user")
    assert texts == [f"Message added to context: {id_}"]
    texts, body = await call(mcp, "retrieve_context", contextId=id_)
    assert json.loads(texts[0]) == body
    assert (body["contextId"], body["summary"]) == (id_, None)
    [message] = body["messages"]
    assert (message["role"], message["content"]) == ("user", "hello there")
    assert message["importance"] == "medium", "the tool's default"
    unknown = (await call(mcp, "retrieve_context", contextId=new_id()))[1]
    assert (unknown["messages"], unknown["summary"]) == ([], None)


async def test_similar_contexts_are_an_array(mcp: "Client[Any]") -> None:
    id_ = new_id()
    await call(mcp, "add_message", contextId=id_, message="Glaciers carve fjords", role="assistant")
    texts, body = await call(mcp, "get_similar_contexts", query="how fjords form", limit=1)
    assert len(texts) == 1
    [similar] = json.loads(texts[0])
    assert set(similar) == {"contextId", "similarity"}
    assert similar["contextId"] == id_
    assert body == {"similarContexts": [similar], "comparedBy": "vectors"}


async def test_relationships(mcp: "Client[Any]") -> None:
    a, b = new_id("a"), new_id("b")
    pair = {"sourceContextId": a, "targetContextId": b, "relationshipType": "continues"}
    texts, _ = await call(mcp, "add_relationship", **pair, weight=0.9)
    assert texts == [f"Relationship added: {a} -> {b} (continues)"]
    assert json.loads((await call(mcp, "get_related_contexts", contextId=b))[0][0]) == [a]
    outgoing = await call(mcp, "get_related_contexts", contextId=b, direction="outgoing")
    assert json.loads(outgoing[0][0]) == []
    typed = await call(mcp, "get_related_contexts", contextId=b, relationshipType="parent")
    assert json.loads(typed[0][0]) == []


async def test_a_summary_is_its_text(mcp: "Client[Any]") -> None:
    id_ = new_id()
    await call(mcp, "add_message", contextId=id_, message="Tokens expire at noon.", role="user")
    texts, _ = await call(mcp, "summarize_context", contextId=id_)
    assert "Tokens expire at noon." in texts[0]
    message = await refused(mcp, "summarize_context", contextId=new_id())
    assert message == "Summary generation failed or context not found."


async def test_context_memory_answers_as_rest_does(mcp: "Client[Any]") -> None:
    id_ = new_id()
    arguments = {"contextId": id_, "role": "user", "content": "hello"}
    body = (await call(mcp, "context_memory", action="add", **arguments))[1]
    assert body == {"success": True, "message": f"Message added to context '{id_}'"}
    body = (await call(mcp, "context_memory", action="retrieve", contextId=id_, limit=1))[1]
    assert body["messages"][0]["content"] == "hello"
    body = (await call(mcp, "context_memory", action="get_meta"))[1]
    assert body["success"] is True
    message = await refused(mcp, "context_memory", action="find_path", contextId=id_)
    assert message == "Missing required parameter: targetId is required for find_path action"
    assert (await refused(mcp, "context_memory", action="dance", contextId=id_)).startswith(
        "Unknown action: dance."
    )


async def test_wrong_arguments_are_named(mcp: "Client[Any]") -> None:
    message = await refused(mcp, "add_message", contextId="", message="x", role="user")
    assert message.startswith("contextId:")
    assert "not blank" in message
    wrong = {"sourceContextId": "a", "targetContextId": "b", "relationshipType": "similar"}
    assert (await refused(mcp, "add_relationship", **wrong, weight=2)).startswith("weight:")
    ignored = await refused(mcp, "add_message", contextId="a.lock", message="x", role="user")
    assert ignored == 'Context ID "a.lock" matches ignore pattern "*.lock"'


async def test_a_context_is_drawn_in_three_formats(mcp: "Client[Any]") -> None:
    parent, child = new_id('odd "name"'), new_id("child")
    await call(mcp, "add_message", contextId=child, message="hello", role="user")
    await call(
        mcp,
        "add_relationship",
        sourceContextId=parent,
        targetContextId=child,
        relationshipType="parent",
    )
    drawn = await call(mcp, "visualize_context", contextId=parent, format="json")
    body = json.loads(drawn[0][0])
    assert [node["id"] for node in body["nodes"]] == [parent, child]
    assert body["edges"] == [{"source": parent, "target": child, "type": "parent", "weight": 0.8}]
    [mermaid], _ = await call(mcp, "visualize_context", contextId=parent, format="mermaid")
    assert mermaid.startswith("graph LR\n")
    assert 'n0["odd #34;name#34;' in mermaid
    assert "n0 -->|parent 0.8| n1" in mermaid
    [text], _ = await call(mcp, "visualize_context", contextId=parent)
    assert f"{child}: 1 messages, no summary" in text


async def test_calls_are_counted_by_type(mcp: "Client[Any]") -> None:
    before = (await call(mcp, "get_api_analytics"))[1]
    await call(mcp, "get_related_contexts", contextId=new_id())
    after = (await call(mcp, "get_api_analytics"))[1]
    assert set(after) == {"totalCalls", "callsByType", "averageDuration"}
    assert len(after["callsByType"]) == len(after["averageDuration"]) == 9
    found = after["callsByType"]["graph_db_search"] - before["callsByType"]["graph_db_search"]
    assert found == 1
    assert after["averageDuration"]["graph_db_search"] > 0
    nothing = (await call(mcp, "get_api_analytics", startTime=0, endTime=1))[1]
    assert nothing["totalCalls"] == 0


async def test_a_secret_is_warned_of(mcp: "Client[Any]") -> None:
    message = "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYq93hX81pLm2Z"
    texts, body = await call(mcp, "add_message", contextId=new_id(), message=message, role="user")
    assert len(texts) == 2
    assert "looks like a secret" in texts[1]
    assert body["warnings"] == texts[1:]
