"""Selecting toolsets by setting, header and URL."""

import pytest

from ctx_core.errors import SettingsInvalid
from ctx_core.serving.service import Effect, Service, Tool
from ctx_core.serving.toolsets import Selection, check_setting, choose


async def reads() -> None: ...


async def writes() -> None: ...


READ = Tool(reads, "", "memory", Effect.READS)
WRITE = Tool(writes, "", "memory", Effect.ADDS)
EVERYTHING = Selection(frozenset({"all"}), read_only=False)
KNOWN = {"memory", "admin"}


def test_everything_by_default() -> None:
    chosen = choose(EVERYTHING, {}, None, KNOWN)
    assert chosen.admits(READ)
    assert chosen.admits(WRITE)


def test_the_header_narrows_and_unknown_names_are_ignored() -> None:
    chosen = choose(EVERYTHING, {"x-mcp-toolsets": "admin, nonsense"}, None, KNOWN)
    assert chosen.names == {"admin"}
    assert not chosen.admits(READ)


def test_only_unknown_names_admit_nothing() -> None:
    assert not choose(EVERYTHING, {"x-mcp-toolsets": "nonsense"}, None, KNOWN).admits(READ)


def test_lean_is_the_few_tools_that_say_so() -> None:
    lean = Tool(reads, "", "memory", Effect.READS, lean=True)
    for chosen in (
        choose(EVERYTHING, {"x-mcp-toolsets": "lean"}, None, KNOWN),
        choose(EVERYTHING, {}, "lean", KNOWN),
    ):
        assert chosen.admits(lean)
        assert not chosen.admits(READ)


def test_the_url_beats_the_header() -> None:
    assert choose(EVERYTHING, {"x-mcp-toolsets": "admin"}, "memory", KNOWN).names == {"memory"}


@pytest.mark.parametrize(
    ("value", "admitted"), [("true", False), ("1", False), ("false", True), ("", True)]
)
def test_read_only_hides_what_writes(value: str, admitted: bool) -> None:
    chosen = choose(EVERYTHING, {"x-mcp-readonly": value}, None, KNOWN)
    assert chosen.admits(WRITE) is admitted
    assert chosen.admits(READ)


def test_a_read_only_server_stays_so_whatever_the_header_says() -> None:
    server = Selection(frozenset({"all"}), read_only=True)
    assert not choose(server, {"x-mcp-readonly": "false"}, None, KNOWN).admits(WRITE)


def test_a_setting_that_names_no_toolset_stops_the_start() -> None:
    service = Service("memory", "", [READ], {}, http_port=1, sse_port=2)
    check_setting(["memory", "all"], [service])
    with pytest.raises(SettingsInvalid, match=r"CTX_TOOLSETS=nonsense.*all, lean, memory"):
        check_setting(["nonsense"], [service])
