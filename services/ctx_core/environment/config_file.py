"""The file `ctx.toml` of the data folder: settings by their names, below the environment."""

import json
import os
import re
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
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"{file} cannot be read: {error}") from error


def write_config(folder: Path, name: str, value: str | None) -> bool:
    """Set a value in the file, or remove it where it is None; other lines and comments stay.

    Returns whether anything changed. Blocks. Raises OSError.
    """
    file = folder / CONFIG_FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    own = re.compile(rf"\s*{re.escape(name)}\s*=")
    kept = [line for line in lines if not own.match(line)]
    added = [] if value is None else [f"{name} = {json.dumps(value, ensure_ascii=False)}"]
    # Above all others: a line after a table's head would belong to that table.
    changed = [*added, *kept]
    if changed == lines:
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(file, "".join(f"{line}\n" for line in changed))
    file.chmod(0o600)  # a setting may be a token
    return True
