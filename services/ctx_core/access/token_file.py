"""The file of tokens, which every server and replica reads, and `ctx token` writes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctx_core.access.token import KeptToken
from ctx_core.errors import SettingsInvalid
from ctx_core.files import replace_file

MAX_TOKENS = 1_000  # each is compared with every request
MAX_BYTES = 16 * 1024 * 1024
PRIVATE = 0o600
PATIENCE_SECONDS = 10.0  # for another `ctx token`, which takes milliseconds


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int = Field(1, ge=1, le=1)
    tokens: list[KeptToken] = Field(max_length=MAX_TOKENS)


def read_tokens(file: Path) -> list[KeptToken]:
    """Return the tokens of a file, none where it is not there. Blocks.

    Raises SettingsInvalid where it cannot be read as such.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES)
        return _Content.model_validate_json(content).tokens
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SettingsInvalid(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, wrong["loc"]))
        raise SettingsInvalid(f"{file} is no file of tokens: {place}: {wrong['msg']}") from error


@contextlib.contextmanager
def changed_tokens(file: Path) -> Iterator[list[KeptToken]]:
    """Yield the tokens to change, and write them at the end; others that do so wait. Blocks.

    Raises SettingsInvalid for too many tokens or a file that cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_name(f".{file.name}.lock"), timeout=PATIENCE_SECONDS):
            tokens = read_tokens(file)
            yield tokens
            _write(file, tokens)
    except Timeout:
        raise SettingsInvalid(f"{file} is being changed by another process; try again") from None
    except OSError as error:
        raise SettingsInvalid(f"{file} cannot be written: {error.strerror}") from error


def _write(file: Path, tokens: list[KeptToken]) -> None:
    """Replace the file as a whole; it keeps its mode, a new one is for its user alone."""
    if len(tokens) > MAX_TOKENS:
        raise SettingsInvalid(f"{file} has {MAX_TOKENS} tokens: revoke some first (ctx token list)")
    mode = file.stat().st_mode if file.exists() else PRIVATE
    replace_file(file, _Content(version=1, tokens=tokens).model_dump_json(indent=1) + "\n")
    file.chmod(mode)
