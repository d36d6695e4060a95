"""Every setting of ctx, from the environment and `ctx.toml`.

`load()` reads and checks all of them at once: a wrong value, or a CTX_ name that does not exist,
stops the start with the name, the value and the allowed values. docs/configuration.md is generated
from the fields of the groups.
"""

import difflib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from ctx_core.environment.config_file import (
    CONFIG_FILE,
    DATA_DIR,
    ConfigInvalid,
    data_folder,
    read_config,
)
from ctx_core.environment.ports import CONVERSATIONS, HEALTH_OFFSET
from ctx_core.errors import SettingsInvalid
from ctx_core.settings.conversations import OPTIONS, ConversationSettings
from ctx_core.settings.indexer import IndexerSettings
from ctx_core.settings.memory import MemorySettings
from ctx_core.settings.models import GLM, MINIMAX, ModelSettings
from ctx_core.settings.removed import REMOVED, ignored, removal
from ctx_core.settings.serving import ServingSettings
from ctx_core.settings.storage import StorageSettings

PREFIX = "CTX_"
SECRET_MASK = "***"

Origin = Literal["environment", "ctx.toml", "secrets file", "default"]

# In the order of docs/configuration.md.
GROUPS: tuple[type[BaseModel], ...] = (
    StorageSettings,
    ServingSettings,
    IndexerSettings,
    ModelSettings,
    MemorySettings,
    ConversationSettings,
)


TOKENS_FILE = "tokens.json"
CHOSEN_DECODER = "chosen"  # the file with the name of the chosen model
BASE64_GROWTH = 4 / 3
ROOM_BESIDE_IMAGE = 4 * 1024 * 1024


class Settings(
    StorageSettings,
    ServingSettings,
    IndexerSettings,
    ModelSettings,
    MemorySettings,
    ConversationSettings,
    BaseSettings,
):
    """All settings, read from the environment when it is made."""

    model_config = SettingsConfigDict(
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        case_sensitive=True,
        populate_by_name=True,
    )

    @property
    def body_limit(self) -> int:
        """The largest request body in bytes: room for the largest image and the rest of a call."""
        if self.max_body_bytes is not None:
            return self.max_body_bytes
        return int(self.max_image_size_mb * 1024 * 1024 * BASE64_GROWTH) + ROOM_BESIDE_IMAGE

    @property
    def tokens_path(self) -> Path:
        """The file of the tokens with scopes, which need not exist."""
        return (self.tokens_file or self.data_dir / TOKENS_FILE).expanduser()

    @property
    def decoders_dir(self) -> Path:
        """The folder of the GGUF files that `ctx model pull` fetched."""
        return self.data_dir / "decoders"

    @property
    def chosen_decoder(self) -> str | None:
        """The model that `ctx model use` chose. Reads a small file."""
        try:
            return (self.decoders_dir / CHOSEN_DECODER).read_text().strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    @property
    def has_decoder(self) -> bool:
        """Whether anything generates text; a service needs its key."""
        if not self.refrag_decoder:
            return False
        if self.refrag_runtime == GLM:
            return self.glm_api_key is not None
        if self.refrag_runtime == MINIMAX:
            return self.minimax_api_key is not None
        given = self.decoder_url or self.decoder_model or self.chosen_decoder
        return given is not None

    @property
    def summary_seconds(self) -> float:
        """The deadline of a call that may wait for the decoder once."""
        waiting = self.decoder_timeout_seconds if self.has_decoder else 0.0
        return self.operation_timeout_seconds + waiting

    @model_validator(mode="after")
    def _rest_port_is_free(self) -> "Settings":
        ports = [*self.memory_ports, *self.indexer_ports, self.http_port]
        taken = [*ports, *(port + HEALTH_OFFSET for port in ports)]
        if self.conversations_rest and self.conversations_port in taken:
            raise ValueError(
                f"PORT={self.conversations_port} is another server's port or health port; the REST "
                f"API of conversations needs its own ({CONVERSATIONS[1]} unless set)"
            )
        return self


def env_names() -> dict[str, FieldInfo]:
    """Return every environment variable with its field, group by group."""
    names = [name for group in GROUPS for name in group.model_fields]
    return {str(Settings.model_fields[n].validation_alias): Settings.model_fields[n] for n in names}


def load(config: str | None = None, port: str | None = None) -> Settings:
    """Read and check every setting. Raises SettingsInvalid, which names each wrong one.

    `config` is a JSON object of options, `port` one of them; the environment goes before both, and
    both before `ctx.toml`.
    """
    known = env_names()
    filed, problems = _filed(known)
    options = {} if config is None else _options(config)
    options |= {} if port is None else {"PORT": port}
    options = filed | options
    given = {name: value for name, value in options.items() if not os.environ.get(name)}
    unknown = sorted(n for n in os.environ if n.startswith(PREFIX) and not _is_known(n, known))
    problems += [_unknown_name(name, known) for name in unknown]
    settings, wrong = _checked(given, known)
    problems += wrong
    if given != options:  # an option that the environment overrules must be right too
        problems += [each for each in _checked(options, known)[1] if each not in wrong]
    if settings is None or problems:
        raise SettingsInvalid("\n".join(problems), problems=problems)
    return settings


def origins() -> dict[str, Origin]:
    """Return where the value of every setting comes from. Raises SettingsInvalid."""
    known = env_names()
    filed, problems = _filed(known)
    if problems:
        raise SettingsInvalid("\n".join(problems), problems=problems)
    secrets = _secrets_dir(filed)
    return {name: _origin(name, filed, secrets) for name in known}


def described() -> list[dict[str, str]]:
    """Return every setting with its value, as text, and its origin; secrets are masked.

    Raises SettingsInvalid.
    """
    settings, origin = load(), origins()
    values = {
        str(Settings.model_fields[name].validation_alias): getattr(settings, name)
        for group in GROUPS
        for name in group.model_fields
    }
    return [
        {"name": name, "value": _shown(name, values[name], origin[name]), "origin": origin[name]}
        for name in env_names()
    ]


def ignored_settings() -> list[str]:
    """Return a sentence for each setting of an earlier version that is set. Reads `ctx.toml`."""
    try:
        filed = read_config(data_folder())
    except ConfigInvalid:
        filed = {}
    return ignored({*filed, *(name for name, value in os.environ.items() if value)})


def check_filed(name: str, value: str | None) -> None:
    """Raise SettingsInvalid where `ctx.toml` may not set this; None removes it."""
    known = env_names()
    if name in REMOVED and value is None:
        return
    if name in REMOVED:
        raise SettingsInvalid(removal(name))
    if name not in known:
        raise SettingsInvalid(_unknown_name(name, known))
    if name == DATA_DIR:
        raise SettingsInvalid(f"{DATA_DIR} is where ctx.toml is found; set the variable")
    if value is None:
        return
    filed, _ = _filed(known)
    _, wrong = _checked(filed | {name: value}, known)
    if wrong:
        raise SettingsInvalid("\n".join(wrong), problems=wrong)


def _shown(name: str, value: Any, origin: Origin) -> str:
    if value is None or value == ():
        return ""
    if is_secret(env_names()[name]) or origin == "secrets file":
        return SECRET_MASK
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return _without_password(text.lower() if isinstance(value, bool) else text)


def is_secret(info: FieldInfo) -> bool:
    """Whether the value of a setting must not be shown."""
    return "Secret" in str(info.annotation)


def _origin(name: str, filed: Mapping[str, Any], secrets: str | None) -> Origin:
    if os.environ.get(name):
        return "environment"
    if name in filed:
        return "ctx.toml"
    return "secrets file" if secrets and (Path(secrets) / name).is_file() else "default"


def _filed(known: Mapping[str, FieldInfo]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of `ctx.toml`, and its problems."""
    file = data_folder() / CONFIG_FILE
    try:
        filed = read_config(file.parent)
    except ConfigInvalid as error:
        return {}, [f"{error}. Correct it, or delete it."]
    unknown = [name for name in filed if not _is_known(name, known)]
    problems = [f"{file}: {_unknown_name(name, known)}" for name in unknown]
    if DATA_DIR in filed:
        problems.append(f"{file}: {DATA_DIR} is where this file is found; set the variable")
    return {name: value for name, value in filed.items() if name in known}, problems


def _checked(
    given: Mapping[str, Any], known: Mapping[str, FieldInfo]
) -> tuple[Settings | None, list[str]]:
    """Return the settings with these options, or the problems of the values."""
    try:
        return Settings(_secrets_dir=_secrets_dir(given), **given), []
    except ValidationError as error:
        return None, [_wrong_value(item, known, given) for item in error.errors()]


def _secrets_dir(given: Mapping[str, Any]) -> str | None:
    """Return the folder of secrets; None where it is not set or, an error of its own, not there."""
    folder = os.environ.get("CTX_SECRETS_DIR") or given.get("CTX_SECRETS_DIR")
    return folder if folder and Path(folder).is_dir() else None


def _options(config: str) -> dict[str, Any]:
    """Parse the value of `--config` into values by environment variable."""
    try:
        given = json.loads(config)
    except ValueError as error:
        raise SettingsInvalid(f"--config is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise SettingsInvalid('--config must be a JSON object, such as {"useGraphDb": false}')
    if unknown := sorted(given.keys() - OPTIONS.keys()):
        allowed = ", ".join(OPTIONS)
        raise SettingsInvalid(f"--config: no option {', '.join(unknown)}. Allowed: {allowed}")
    return {OPTIONS[name]: value for name, value in given.items()}


def _is_known(name: str, known: Mapping[str, FieldInfo]) -> bool:
    """Whether a name is a setting, or was one once."""
    return name in known or name in REMOVED


def _unknown_name(name: str, known: Mapping[str, FieldInfo]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/configuration.md lists the settings."
    return f"{name}: no such setting; {hint}"


def _wrong_value(item: Any, known: Mapping[str, FieldInfo], given: Mapping[str, Any]) -> str:
    """Format one error of pydantic: `CTX_LOG_LEVEL=loud: Input should be 'debug' …`."""
    name = str(item["loc"][0]) if item["loc"] else ""
    message = str(item["msg"]).removeprefix("Value error, ")
    if name not in known:
        return message
    text = str(given.get(name, os.environ.get(name, "")))
    value = SECRET_MASK if is_secret(known[name]) else _without_password(text)
    return f"{name}={value}: {message}. {known[name].description}"


def _without_password(value: str) -> str:
    """Mask the password of a URL."""
    return re.sub(r"(://[^/@:]*:)[^/@]*@", rf"\1{SECRET_MASK}@", value)
