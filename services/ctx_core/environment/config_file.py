"""The file `ctx.toml` of the data folder: settings by their names, below the environment."""

import os
import tomllib
from pathlib import Path
from typing import Any

from ctx_core.files import replace_file

CONFIG_FILE = "ctx.toml"
MANIFEST_FILE = "index.sqlite"  # beside it: which files are indexed
DATA_DIR = "CTX_DATA_DIR"


class ConfigInvalid(ValueError):
    """The file cannot be read, or is no TOML; the text says why."""


def data_folder() -> Path:
    """Return the folder of everything ctx stores, as the environment has it."""
    if given := os.environ.get(DATA_DIR):
        return Path(given).expanduser().absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - most of the time of `ctx --help`

    return user_data_path("ctx", appauthor=False)


def read_config(folder: Path) -> dict[str, Any]:
    """Return the settings of the file; none where it does not exist. Blocks. Raises ConfigInvalid.

    The file can not move the folder that it lies in.
    """
    file = folder / CONFIG_FILE
    try:
        return tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{file} cannot be read: {error}") from error


def write_config(folder: Path, name: str, value: str | None) -> bool:
    """Set a value in the file, or remove it where it is None; every other byte, and a link, stays.

    Returns whether anything changed. Blocks. Raises ConfigInvalid and changes nothing, or OSError.
    """
    from ctx_core.toml import TomlRefused, remove_key, set_key  # noqa: PLC0415 - takes 40 ms

    file = folder / CONFIG_FILE
    text = _read(file, encoding="utf-8")
    try:
        changed = remove_key(text, (name,)) if value is None else set_key(text, name, value)
    except TomlRefused as error:
        raise ConfigInvalid(f"{file} cannot be changed: {error}") from error
    if changed == text:
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = Path(os.path.realpath(file))
    replace_file(target, changed)
    target.chmod(0o600)  # a setting may be a token
    return True


def _read(file: Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file, with its own line breaks; nothing where there is none."""
    try:
        return file.read_bytes().decode(encoding)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{file} cannot be read: {error}") from error
