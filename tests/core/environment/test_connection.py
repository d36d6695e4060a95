"""What a call of a running server reads is what all settings say, or nothing."""

from pathlib import Path

import pytest

from ctx.servers import connection_of
from ctx_core.environment.config_file import CONFIG_FILE
from ctx_core.environment.connection import read_connection, read_store_key
from ctx_core.errors import SettingsInvalid
from ctx_core.settings import env_names, load, origins


@pytest.fixture(autouse=True)
def data_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in env_names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ({}, ""),
        ({"CTX_HOST": "0.0.0.0", "CTX_MEMORY_HTTP_PORT": "9002"}, ""),
        ({"CTX_AUTH_TOKENS": " one , two", "CTX_WORKSPACE": "~/project"}, ""),
        ({"CTX_HTTP_PORT": "9010"}, ""),
        ({"CTX_HOST": ""}, "CTX_HOST = '::1'"),
        ({"CTX_INDEXER_HTTP_PORT": "9003"}, "CTX_INDEXER_HTTP_PORT = 9004\nPORT = 9005"),
        ({}, "CTX_INDEXER_HTTP_PORT = '9004'\nCTX_AUTH_TOKENS = ['three', 'four']"),
        ({}, "CTX_WORKSPACE = '/srv'\nCTX_LOG_LEVEL = 'debug'"),
    ],
)
def test_it_is_what_all_settings_say(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, environment: dict[str, str], file: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (data_dir / CONFIG_FILE).write_text(file)
    assert read_connection() == connection_of(load())


@pytest.mark.parametrize(
    ("environment", "file"),
    [({}, ""), ({"QDRANT_BIN": __file__}, ""), ({}, f"QDRANT_BIN = '{__file__}'")],
)
def test_the_name_of_the_store_is_what_all_settings_say(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, environment: dict[str, str], file: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (data_dir / CONFIG_FILE).write_text(file)
    assert read_store_key() == load().store_key
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:6333")
    assert read_store_key() is None


def test_the_default_data_folder_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTX_DATA_DIR")
    assert read_connection() == connection_of(load())


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ({"CTX_MEMORY_HTTP_PORT": "http"}, ""),
        ({"CTX_MEMORY_HTTP_PORT": "99999"}, ""),
        ({}, "CTX_HOST ="),
        ({}, "CTX_HOST = 1"),
    ],
)
def test_what_is_wrong_is_left_to_the_check_of_all_settings(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, environment: dict[str, str], file: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (data_dir / CONFIG_FILE).write_text(file)
    assert read_connection() is None
    with pytest.raises(SettingsInvalid):
        load()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("CTX_HOTS = 'x'", "did you mean CTX_HOST"),
        ("CTX_DATA_DIR = '/elsewhere'", "set the variable"),
        ("CTX_LOG_LEVEL = 'loud'", "CTX_LOG_LEVEL=loud"),
        ("host: x", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused(data_dir: Path, file: str, said: str) -> None:
    (data_dir / CONFIG_FILE).write_text(file)
    with pytest.raises(SettingsInvalid, match=said):
        load()


def test_the_environment_goes_before_the_file(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    (data_dir / CONFIG_FILE).write_text("COLLECTION_NAME = 'filed'\nPORT = 7001\nCTX_HOST = '::1'")
    monkeypatch.setenv("CTX_HOST", "127.0.0.1")
    settings = load('{"port": 7002}')
    assert (settings.collection_name, settings.host) == ("filed", "127.0.0.1")
    assert settings.conversations_port == 7002
    origin = origins()
    assert origin["CTX_HOST"] == origin["CTX_DATA_DIR"] == "environment"
    assert origin["COLLECTION_NAME"] == "ctx.toml"
    assert origin["CTX_LOG_LEVEL"] == "default"
