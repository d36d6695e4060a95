"""Looking for secrets takes time in proportion to the text, whatever it says."""

import time

import pytest

from ctx_core.secrets.redaction import redact

SMALL, LARGE = 32_768, 262_144  # characters
LINEAR_SECONDS = 1.0  # of CPU for the large text; the slowest case takes a third
GROWTH = 20  # for eight times the text

HOSTILE = [
    "-----BEGIN PRIVATE KEY-----(",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "kind: Secret\ndata:\n  a: b" + " " * 200 + "c\n",
    "data:" + " " * 60,
    'password="',
    "token = ",
    "hooks.slack.com/aaaaaaaa",
    "a://b:",
    "eyJaaaaaaaaaa.",
    "AKIAAAAAAAAAAAAAAAAA",
    '"kty" "d" : "aaaaaaaaaaaaaaaaaaaa',
    "Private-Lines: 9999\n",
    "api_key: {",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_redacting_is_linear(part: str) -> None:
    small, large = (_seconds(part * (size // len(part))) for size in (SMALL, LARGE))
    assert large < LINEAR_SECONDS or large < GROWTH * small


def _seconds(text: str) -> float:
    started = time.thread_time()
    redact(text, "config.yaml")
    return time.thread_time() - started
