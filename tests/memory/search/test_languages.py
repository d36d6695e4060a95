"""What the settings admit, full text knows."""

from typing import get_args

from services.core.settings.memory import Language
from services.memory.records.fulltext import LANGUAGES


def test_every_language_of_the_settings_can_be_searched() -> None:
    assert set(get_args(Language)) == set(LANGUAGES)
