"""Session defaults by token and by connection."""

from collections.abc import Iterator

import pytest

from ctx_core.errors import InvalidInput
from ctx_core.serving import caller
from ctx_core.serving.sessions import MAX_SESSIONS, SessionDefaults


@pytest.fixture
def connection() -> Iterator[str]:
    token = caller.current.set(caller.Caller("peer", "connection-1"))
    yield "connection-1"
    caller.current.reset(token)


def test_a_token_where_there_is_no_connection() -> None:
    sessions = SessionDefaults()
    answer = sessions.set("team", None)
    assert answer["ok"]
    assert answer["applied"] == "session"
    assert answer["defaults"] == {"collection": "team"}
    assert sessions.collection(answer["session"]) == "team"
    assert sessions.collection(None) is None


@pytest.mark.usefixtures("connection")
def test_a_connection_needs_no_token() -> None:
    sessions = SessionDefaults()
    assert sessions.set("team", None)["applied"] == "connection"
    assert sessions.collection(None) == "team"


def test_a_token_is_reused_across_connections(connection: str) -> None:
    sessions = SessionDefaults()
    token = sessions.set("team", None)["session"]
    caller.current.set(caller.Caller("peer", connection + "-other"))
    assert sessions.collection(None) is None
    assert sessions.set(None, token)["defaults"] == {"collection": "team"}
    assert sessions.collection(None) == "team"


def test_changing_the_collection_keeps_the_token() -> None:
    sessions = SessionDefaults()
    token = sessions.set("one", "mine")["session"]
    assert token == "mine"
    sessions.set("two", "mine")
    assert sessions.collection("mine") == "two"


def test_an_unknown_token_is_an_error_not_another_collection() -> None:
    sessions = SessionDefaults()
    with pytest.raises(InvalidInput, match="no such session"):
        sessions.collection("gone")
    with pytest.raises(InvalidInput, match="no such session"):
        sessions.set(None, "gone")


@pytest.mark.usefixtures("connection")
def test_the_oldest_session_is_forgotten_first_and_its_connection_hears_of_it() -> None:
    sessions = SessionDefaults()
    sessions.set("first", "token-first")
    caller.current.set(caller.Caller("peer", None))
    for number in range(MAX_SESSIONS):
        sessions.set("x", f"token-{number}")
    with pytest.raises(InvalidInput):
        sessions.collection("token-first")
    caller.current.set(caller.Caller("peer", "connection-1"))
    with pytest.raises(InvalidInput, match="the oldest of a client"):
        sessions.collection(None)


def test_a_token_belongs_to_the_client_that_made_it() -> None:
    sessions = SessionDefaults()
    before = caller.current.set(caller.Caller("one"))
    token = sessions.set("team", None)["session"]
    assert len(token) >= 32
    caller.current.set(caller.Caller("two"))
    with pytest.raises(InvalidInput, match="no such session"):
        sessions.collection(token)
    with pytest.raises(InvalidInput, match="no such session"):
        sessions.set(None, token)
    sessions.set("mine", token)
    caller.current.set(caller.Caller("one"))
    assert sessions.collection(token) == "team"
    caller.current.reset(before)


def test_one_client_does_not_displace_the_sessions_of_another() -> None:
    sessions = SessionDefaults()
    before = caller.current.set(caller.Caller("quiet"))
    token = sessions.set("team", None)["session"]
    caller.current.set(caller.Caller("loud"))
    for _ in range(MAX_SESSIONS + 1):
        sessions.set("x", None)
    caller.current.set(caller.Caller("quiet"))
    assert sessions.collection(token) == "team"
    caller.current.reset(before)
