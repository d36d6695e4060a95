"""What clients store is screened: a warning, or a redaction where that is set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctx_core.secrets.screen import MAX_CHARS_INLINE, SecretScreen

TOKEN = "gh" + "p_" + "a8Kq2LmZ9xWv4TnR7sYb1CdE5fGh3JkP6oUi"


@dataclass(frozen=True)
class Draft:
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    author: str = ""


async def test_a_secret_is_kept_with_a_warning() -> None:
    draft = Draft(f"deploy with {TOKEN}")
    screened = await SecretScreen().screen(draft)
    assert screened.value is draft
    [warning] = screened.warnings
    assert "GitHub token" in warning
    assert TOKEN not in warning


async def test_a_secret_is_redacted_where_that_is_set() -> None:
    draft = Draft(f"deploy with {TOKEN}\nthen wait", {"note": {"codes": [TOKEN, 3, None]}}, TOKEN)
    screened = await SecretScreen(redacts=True).screen(draft)
    mark = "[redacted: GitHub token]"
    assert screened.value == Draft(
        f"deploy with {mark}\nthen wait", {"note": {"codes": [mark, 3, None]}}, TOKEN
    )
    assert screened.warnings == ["redacted before it was stored: GitHub token"]


async def test_metadata_is_read_with_its_keys() -> None:
    draft = Draft("the staging database", {"db_password": "falcon-orbit-77!", "topic": "staging"})
    screened = await SecretScreen(redacts=True).screen(draft)
    assert screened.value.metadata == {"db_password": "[redacted: password]", "topic": "staging"}


async def test_a_password_in_a_sentence() -> None:
    screened = await SecretScreen().screen(Draft("the staging password is Falcon77!orbit"))
    assert "password" in screened.warnings[0]


async def test_nothing_is_said_of_ordinary_texts() -> None:
    draft = Draft("Passwords are hashed; tokens expire after an hour.", {"topic": "secrets"})
    screened = await SecretScreen(redacts=True).screen(draft)
    assert screened.value is draft
    assert screened.warnings == ()


async def test_long_texts_are_screened_too() -> None:
    draft = Draft("words and more words " * MAX_CHARS_INLINE + TOKEN)
    screened = await SecretScreen(redacts=True).screen(draft)
    assert TOKEN not in screened.value.text
