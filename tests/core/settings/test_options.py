"""The sixteen options of conversations: by environment, and by --config."""

import json
from typing import Any

import pytest

from ctx_core.errors import SettingsInvalid
from ctx_core.settings import env_names, load
from ctx_core.settings.conversations import OPTIONS

# Every option with another value than its default.
VALUES: dict[str, Any] = {
    "messageLimitThreshold": 20,
    "tokenLimitPercentage": 70,
    "contextDir": "/tmp",
    "ignorePatterns": ["node_modules", ".*.log"],
    "autoSummarize": False,
    "hierarchicalContext": False,
    "metaSummaryThreshold": 10,
    "maxHierarchyDepth": 5,
    "useVectorDb": False,
    "useGraphDb": False,
    "similarityThreshold": 0.7,
    "autoCleanupContexts": True,
    "trackApiCalls": False,
    "apiAnalyticsRetention": 60,
    "fallbackToKeywordMatch": False,
    "port": 8080,
}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in env_names():
        monkeypatch.delenv(name, raising=False)


def _loaded(config: str | None = None) -> dict[str, Any]:
    settings = load(config)
    fields = {
        str(info.validation_alias): name for name, info in type(settings).model_fields.items()
    }
    found = {option: getattr(settings, fields[alias]) for option, alias in OPTIONS.items()}
    return {option: _plain(value) for option, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, bool | int | float | None) else str(value)


def test_there_are_sixteen_options() -> None:
    assert set(OPTIONS) == set(VALUES)
    assert len(OPTIONS) == 16
    assert {option for option, value in _loaded().items() if value == VALUES[option]} == set()


def test_config_sets_every_option() -> None:
    assert _loaded(json.dumps(VALUES)) == VALUES


def test_the_environment_sets_every_option_and_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for option, value in VALUES.items():
        monkeypatch.setenv(OPTIONS[option], value if isinstance(value, str) else json.dumps(value))
    assert _loaded() == VALUES
    assert _loaded('{"port": 9, "messageLimitThreshold": 1}') == VALUES


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "no JSON"),
        ("[1]", "must be a JSON object"),
        ('{"messageLimit": 1}', "no option messageLimit. Allowed: messageLimitThreshold"),
        ('{"messageLimitThreshold": "ten"}', "MESSAGE_LIMIT_THRESHOLD=ten"),
        ('{"messageLimitThreshold": 0}', "greater than or equal to 1"),
        ('{"similarityThreshold": 2}', "SIMILARITY_THRESHOLD=2"),
        ('{"autoSummarize": "perhaps"}', "AUTO_SUMMARIZE=perhaps"),
        ('{"contextDir": "/no/such/folder"}', "existing folder"),
        ('{"ignorePatterns": "node_modules"}', "IGNORE_PATTERNS=node_modules"),
        ('{"port": 8002}', "another server's port"),
        ('{"port": 18003}', "health port"),
        ('{"port": 70000}', "PORT=70000"),
    ],
)
def test_a_wrong_option_stops_the_start(config: str, said: str) -> None:
    with pytest.raises(SettingsInvalid) as raised:
        load(config)
    assert said in str(raised.value)


def test_a_wrong_option_stops_the_start_although_the_environment_goes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MESSAGE_LIMIT_THRESHOLD", "7")
    assert load('{"messageLimitThreshold": 3}').message_limit_threshold == 7
    with pytest.raises(SettingsInvalid, match="MESSAGE_LIMIT_THRESHOLD=ten"):
        load('{"messageLimitThreshold": "ten"}')
    monkeypatch.setenv("MESSAGE_LIMIT_THRESHOLD", "none")
    with pytest.raises(SettingsInvalid) as raised:
        load('{"messageLimitThreshold": 3, "port": 0}')
    assert "MESSAGE_LIMIT_THRESHOLD=none" in str(raised.value)
    assert "PORT=0" in str(raised.value)


def test_the_port_may_be_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(port="7001").conversations_port == 7001
    assert load('{"port": 7000}', "7001").conversations_port == 7001
    with pytest.raises(SettingsInvalid, match="PORT=many"):
        load(port="many")
    monkeypatch.setenv("PORT", "7002")
    assert load(port="7001").conversations_port == 7002


def test_a_port_that_is_not_served_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTX_CONVERSATIONS_REST", "false")
    monkeypatch.setenv("PORT", "8002")
    assert load().conversations_port == 8002
