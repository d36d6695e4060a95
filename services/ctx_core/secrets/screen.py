"""Screens texts and metadata before they are stored: warns of their secrets, or redacts them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ctx_core.blocking import COMPUTE
from ctx_core.secrets.redaction import Redaction, redact

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

WARNING = "looks like a secret and is kept as given: {}; CTX_REDACT_STORED=true redacts"
REDACTED = "redacted before it was stored: {}"
SCREENED_FIELDS = ("text", "metadata", "metadata_patch")
# Longer texts are looked through in a thread: 25 ns a character.
MAX_CHARS_INLINE = 32_768
LONGEST_VALUE = 500  # characters of a metadata value that is read together with its key
CONFIG_NAME = "metadata.yaml"

Stored = TypeVar("Stored", bound="DataclassInstance")


@dataclass(frozen=True)
class Screened(Generic[Stored]):
    """A draft or change to store, redacted where that is set, and warnings for the client."""

    value: Stored
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class SecretScreen:
    """Looks for secrets in drafts and changes; replaces them only where `redacts` is set.

    `the token is ghp_…` → the text as it is and a warning, or `the token is [redacted: …]`.
    """

    redacts: bool = False

    async def screen(self, value: Stored) -> Screened[Stored]:
        """Screen the text and the metadata of a draft or a change."""
        names = [each.name for each in fields(value) if each.name in SCREENED_FIELDS]
        given = {name: content for name in names if (content := getattr(value, name))}
        if _size(given) <= MAX_CHARS_INLINE:
            return self._screen(value, given)
        return await COMPUTE.run(self._screen, value, given)

    def _screen(self, value: Stored, given: Mapping[str, Any]) -> Screened[Stored]:
        kinds: dict[str, None] = {}
        clean = {name: _redacted(content, kinds) for name, content in given.items()}
        if not kinds:
            return Screened(value)
        listed = ", ".join(kinds)
        if not self.redacts:
            return Screened(value, [WARNING.format(listed)])
        return Screened(replace(value, **clean), [REDACTED.format(listed)])


def _size(content: Any) -> int:
    """Count the characters of all texts: `{"topic": "ab", "tags": ["c"]}` → 3, without the keys."""
    if isinstance(content, Mapping):
        return sum(map(_size, content.values()))
    if isinstance(content, list | tuple):
        return sum(map(_size, content))
    return len(content) if isinstance(content, str) else 0


def _redacted(content: Any, kinds: dict[str, None], key: str = "") -> Any:
    """Return the same value without secrets, and add the kind of each secret to `kinds`."""
    if isinstance(content, Mapping):
        return {name: _redacted(each, kinds, str(name)) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [_redacted(each, kinds, key) for each in content]
    if not isinstance(content, str):
        return content
    redaction = _redact_value(key, content)
    kinds.update(dict.fromkeys(redaction.kinds))
    return redaction.text


def _redact_value(key: str, content: str) -> Redaction:
    """Redact a value; a short one is read with its key, as in a configuration file.

    `{"password": "x7Gq2LpW"}` is read as `password: x7Gq2LpW`: alone, the value tells nothing.
    """
    if not key or len(content) > LONGEST_VALUE or "\n" in content:
        return redact(content)
    before = f"{key}: "
    redaction = redact(before + content, CONFIG_NAME)
    return Redaction(redaction.text.removeprefix(before), redaction.kinds)
