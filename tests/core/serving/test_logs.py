"""Log lines: for people, and as JSON with the request they belong to."""

import json
import logging
from collections.abc import Iterator

import pytest
from starlette.requests import ClientDisconnect

from ctx_core.serving import request_id
from ctx_core.serving.logs import FIELDS, configure_logging


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_json_line_has_request_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    token = request_id.current.set("abc")
    logging.getLogger("ctx.test").info("%d calls\nof one", 2, extra={FIELDS: {"tool": "find"}})
    request_id.current.reset(token)
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("ctx.test").exception("failed")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first["message"] == "2 calls\nof one"
    assert (first["request_id"], first["tool"], first["level"]) == ("abc", "find", "info")
    assert "request_id" not in second
    assert "ValueError: broken" in second["exception"]


def test_a_text_line_names_the_request(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    logging.getLogger("ctx.test").info("outside")
    token = request_id.current.set("abc")
    logging.getLogger("ctx.test").info("inside")
    request_id.current.reset(token)
    outside, inside = capsys.readouterr().err.splitlines()
    assert outside.endswith("ctx.test: outside")
    assert inside.endswith("ctx.test: [abc] inside")


def test_a_client_that_goes_away_leaves_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info")
    for raised in (ClientDisconnect(), ValueError("broken")):
        try:
            raise raised
        except Exception:
            logging.getLogger("mcp.server").exception("Error handling POST request")
    logged = capsys.readouterr().err
    assert "ValueError: broken" in logged
    assert "ClientDisconnect" not in logged


def test_only_ids_are_taken_from_a_proxy() -> None:
    assert request_id.request_id("trace-1.2:3_4") == "trace-1.2:3_4"
    for given in (None, "", "a" * 65, 'x" level="error', "two words", "a\nb"):
        made = request_id.request_id(given)
        assert len(made) == request_id.LENGTH
        assert made != request_id.request_id(given)
