"""The file `ctx.toml` of the data folder: settings by their names, below the environment."""

import os
import tomllib
from pathlib import Path
from typing import Any

CONFIG_FILE = "ctx.toml"
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
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"{file} cannot be read: {error}") from error
