"""Reading and checking the settings."""

from pathlib import Path

import pytest

from ctx_core.errors import SettingsInvalid
from ctx_core.settings import GROUPS, Settings, env_names, ignored_settings, load
from ctx_core.settings.removed import REMOVED


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in env_names():
        monkeypatch.delenv(name, raising=False)


def test_defaults_are_loopback_and_the_contract_ports() -> None:
    settings = load()
    assert settings.host == "127.0.0.1"
    assert settings.memory_ports == (8002, 8000)
    assert settings.indexer_ports == (8003, 8001)
    assert settings.qdrant_url is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CTX_MEMORY_HTTP_PORT", "99999", "55535"),
        ("CTX_MEMORY_HTTP_PORT", "http", "integer"),
        ("CTX_READ_ONLY", "perhaps", "boolean"),
        ("CTX_LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("DATABASE_URL", "mysql://localhost/x", "postgresql://host/name"),
        ("FTS_LANGUAGE", "klingon", "'english'"),
        ("HYBRID_RRF_K", "1001", "1000"),
        ("SEARCH_TRUNCATION_LENGTH", "0", "20"),
        ("MAX_IMAGE_SIZE_MB", "0", "greater than 0"),
        ("QDRANT_URL", "localhost:6333", "URL"),
        ("QDRANT_BIN", "/no/such/file", "existing file"),
        ("CTX_OPERATION_TIMEOUT_SECONDS", "0", "greater than 0"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as raised:
        load()
    assert f"{name}={value}" in str(raised.value)
    assert said in str(raised.value)


def test_an_unknown_name_is_refused_with_a_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTX_MEMROY_HTTP_PORT", "1")
    with pytest.raises(SettingsInvalid, match=r"CTX_MEMROY_HTTP_PORT.*CTX_MEMORY_HTTP_PORT\?"):
        load()


def test_a_setting_of_before_is_ignored_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path))
    (tmp_path / "ctx.toml").write_text("MICRO_CHUNK_TOKENS = 8\nCTX_LOG_LEVEL = 'debug'\n")
    monkeypatch.setenv("CTX_MIN_FREE_MB", "24")
    assert load().log_level == "debug"
    assert ignored_settings() == [
        "CTX_MIN_FREE_MB is no longer a setting: the embedded Qdrant writes while 64 MB of its "
        "disk are free; it was ignored",
        "MICRO_CHUNK_TOKENS is no longer a setting: a window has 16 words; it was ignored",
    ]
    assert not REMOVED.keys() & env_names().keys()


def test_every_problem_is_in_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTX_LOG_LEVEL", "loud")
    monkeypatch.setenv("CTX_READ_ONLY", "perhaps")
    with pytest.raises(SettingsInvalid) as raised:
        load()
    assert len(raised.value.details["problems"]) == 2


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTX_AUTH_TOKENS", "first-secret, second-secret")
    settings = load()
    assert [token.get_secret_value() for token in settings.auth_tokens] == [
        "first-secret",
        "second-secret",
    ]
    assert "-secret" not in repr(settings)


def test_ports_and_collections_must_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTX_MEMORY_HTTP_PORT", "8003")
    with pytest.raises(SettingsInvalid, match="must differ"):
        load()
    monkeypatch.setenv("CTX_MEMORY_HTTP_PORT", "8002")
    monkeypatch.setenv("COLLECTION_NAME", "memories")
    with pytest.raises(SettingsInvalid, match="must differ"):
        load()


def test_an_empty_value_is_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "")
    assert load().qdrant_url is None


def test_home_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CTX_DATA_DIR", "~/here")
    assert load().data_dir == tmp_path / "here"


def test_the_memory_server_is_found_on_this_machine() -> None:
    assert Settings(host="0.0.0.0").memory_endpoint == "http://127.0.0.1:8002/mcp"
    assert Settings(host="::1").memory_endpoint == "http://[::1]:8002/mcp"


@pytest.mark.parametrize(
    "url", ["sqlite:///x.sqlite", "postgresql://u:p@host/name", "postgresql+asyncpg:///name"]
)
def test_both_databases_are_known(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert load().records_url == url


def test_the_password_of_a_database_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://me:hunter2@host/name")
    with pytest.raises(SettingsInvalid) as raised:
        load()
    assert "hunter2" not in str(raised.value)
    assert "mysql://me:***@host/name" in str(raised.value)


def test_the_settings_of_the_memory_server(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load()
    assert settings.threads_collection_name == "threads"
    assert settings.metadata_indexed_fields[:2] == ("status", "agent_name")
    assert (settings.search_truncation_length, settings.hybrid_rrf_k) == (300, 60)
    assert settings.max_image_size_mb == 10
    assert settings.enable_summary_generation
    assert settings.summary_max_tokens == 2000
    monkeypatch.setenv("METADATA_INDEXED_FIELDS", "status, owner.team")
    assert load().metadata_indexed_fields == ("status", "owner.team")
    monkeypatch.setenv("THREADS_COLLECTION_NAME", "memories")
    with pytest.raises(SettingsInvalid, match="THREADS_COLLECTION_NAME"):
        load()


def test_every_setting_belongs_to_one_group() -> None:
    """A group that is missing in GROUPS would be read and stay undocumented."""
    names = [name for group in GROUPS for name in group.model_fields]
    assert sorted(names) == sorted(Settings.model_fields)
    assert len(env_names()) == len(names)


def test_secrets_are_read_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CTX_AUTH_TOKENS").write_text("first,second\n")
    (tmp_path / "DATABASE_URL").write_text("postgresql://ctx:secret@db/ctx\n")
    monkeypatch.setenv("CTX_SECRETS_DIR", str(tmp_path))
    settings = load()
    assert [token.get_secret_value() for token in settings.auth_tokens] == ["first", "second"]
    assert settings.database_url == "postgresql://ctx:secret@db/ctx"
    monkeypatch.setenv("DATABASE_URL", "sqlite:///here")
    assert load().database_url == "sqlite:///here"


def test_a_wrong_secret_is_named_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "DATABASE_URL").write_text("mysql://ctx:secret@db/ctx")
    monkeypatch.setenv("CTX_SECRETS_DIR", str(tmp_path))
    with pytest.raises(SettingsInvalid) as raised:
        load()
    assert "DATABASE_URL" in str(raised.value)
    assert "secret@" not in str(raised.value)
    monkeypatch.setenv("CTX_SECRETS_DIR", str(tmp_path / "missing"))
    with pytest.raises(SettingsInvalid, match="existing folder"):
        load()


def test_the_folder_of_secrets_may_stand_in_the_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "CTX_AUTH_TOKENS").write_text("from-a-file\n")
    (tmp_path / "ctx.toml").write_text(f'CTX_SECRETS_DIR = "{secrets}"\n')
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path))
    assert [token.get_secret_value() for token in load().auth_tokens] == ["from-a-file"]
