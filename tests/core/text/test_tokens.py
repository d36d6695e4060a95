"""Words and terms of a text."""

import pytest

from ctx_core.text.tokens import terms, text_terms, words


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parseHTTPResponse", ("pars", "http", "respons", "parsehttpresponse")),
        ("snake_case_name", ("snake", "case", "name", "snake_case_name")),
        ("utf8", ("utf", "8", "utf8")),
        ("HTTPServer2", ("http", "server", "2", "httpserver2")),
        ("__init__", ("init",)),
        ("running", ("run",)),
        ("the", ()),
        ("x" * 65, ()),
        ("привет", ("привет",)),
    ],
)
def test_terms_of_a_word(word: str, expected: tuple[str, ...]) -> None:
    assert terms(word) == expected


def test_stop_words_have_no_terms_but_count_as_parts() -> None:
    assert terms("is_valid") == ("valid", "is_valid")


def test_words_have_their_spans() -> None:
    text = "a fooBar, baz!"
    assert [text[w.start : w.end] for w in words(text)] == ["a", "fooBar", "baz"]


def test_in_scripts_without_spaces_each_character_is_a_word() -> None:
    assert text_terms("日本語 test") == ["日", "本", "語", "test"]
