"""Declare a setting: one field, one environment variable, one line of documentation."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from ctx_core.environment.ports import LAST_PORT


def env(name: str, default: Any, description: str, **limits: Any) -> Any:
    """Declare a field that is read from exactly one environment variable."""
    return Field(default, validation_alias=name, description=description, **limits)


def _split_commas(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


Port = Annotated[int, Field(ge=1, le=LAST_PORT)]
CommaList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
SecretList = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split_commas)]
