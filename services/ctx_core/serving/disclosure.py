"""What an error tells a client: what happened and what to do, not where our servers are."""

import re
from collections.abc import Mapping
from typing import Any

from ctx_core.errors import CtxError, InvalidInput, KnowledgeRefused, RequestInvalid

ADDRESS = "<address>"
HIDDEN_DETAILS = frozenset({"url", "host", "user"})
# The texts of these repeat what the caller itself has sent.
ABOUT_ARGUMENTS = (InvalidInput, KnowledgeRefused, RequestInvalid)
_WORD = re.compile(r"\S+")
_NUMBERS = re.compile(r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?(?![\w.-])")
_BEFORE, _AFTER = "'\"([<", "'\")]>.,;:"


def public_body(error: CtxError, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error's body for a client, without addresses, users and hosts."""
    return dict(body) if isinstance(error, ABOUT_ARGUMENTS) else dict(_cleaned(body))


def without_addresses(text: str) -> str:
    """Return a text with a mark in place of URLs, users at hosts, and numeric addresses."""
    return _NUMBERS.sub(ADDRESS, _WORD.sub(_without_address, text))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_addresses(value)
    if isinstance(value, Mapping):
        kept = {key: inner for key, inner in value.items() if key not in HIDDEN_DETAILS}
        return {key: _cleaned(inner) for key, inner in kept.items()}
    return [_cleaned(each) for each in value] if isinstance(value, list | tuple) else value


def _without_address(found: re.Match[str]) -> str:
    word = found.group()
    if "://" not in word and "@" not in word:
        return word
    start = len(word) - len(word.lstrip(_BEFORE))
    end = len(word.rstrip(_AFTER))
    return word[:start] + ADDRESS + word[end:]
