"""Checks the sentences of a decoder: each cites sources that exist and that support it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctx_core.text.tokens import text_terms
from ctx_indexer.answers.planted import addresses_model
from ctx_indexer.answers.sources import Source

MIN_TERMS = 2  # of a sentence; less says nothing that could be checked
SUPPORTED_TERMS = 0.6  # share of a sentence's terms that its sources have
_CITED = re.compile(r"\[(\d{1,3}(?:\s?[,;]\s?\d{1,3}){0,5})\]")
_NUMBERS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"(?<=\])[.!?]?\s+|(?<=[.!?])\s+(?=[A-Z`])|\n+")
_QUOTED = re.compile(r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"")
_TOKEN = re.compile(r"https?:\S+|[\w./-]+\(?")
_CAMEL_CASE = re.compile(r"[a-z][A-Z]")
_JOINED = re.compile(r"\w[_./]\w")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence that its sources support, without and with its citations."""

    text: str
    sources: tuple[int, ...]

    @property
    def cited(self) -> str:
        marks = "".join(f"[{number}]" for number in self.sources)
        return f"{self.text} {marks}"


def split_sentences(text: str) -> list[str]:
    """Split a generated text; a citation belongs to the sentence before it."""
    pieces: list[str] = []
    for piece in _SENTENCE_END.split(text):
        stripped = piece.strip() if piece else ""
        if stripped and not _CITED.sub("", stripped).strip(" .") and pieces:
            pieces[-1] = f"{pieces[-1]} {stripped}"
        elif stripped:
            pieces.append(stripped)
    return pieces


def check(sentence: str, sources: Sequence[Source]) -> CheckedSentence | None:
    """Return a sentence with the sources that it cites, or None where they do not support it."""
    known = {source.number: source for source in sources}
    cited = list(dict.fromkeys(_cited(sentence)))
    said = " ".join(_CITED.sub("", sentence).split()).rstrip(" .") + "."
    if not cited or any(number not in known for number in cited) or addresses_model(said):
        return None
    texts = [_text(known[number]) for number in cited]
    return CheckedSentence(said, tuple(cited)) if is_supported(said, "\n".join(texts)) else None


def is_supported(sentence: str, text: str) -> bool:
    """Whether the names, paths and numbers of a sentence, and most of its terms, are in a text."""
    if any(name not in text for name in _names(sentence)):
        return False
    terms = set(text_terms(sentence))
    shared = terms & set(text_terms(text))
    return len(terms) >= MIN_TERMS and len(shared) >= SUPPORTED_TERMS * len(terms)


def _cited(sentence: str) -> Iterator[int]:
    for group in _CITED.findall(sentence):
        yield from (int(number) for number in _NUMBERS.findall(group))


def _names(sentence: str) -> set[str]:
    quoted = {one or other for one, other in _QUOTED.findall(sentence)}
    parts = {part for each in quoted for part in re.split(r"[\s(),=:]+", each) if part}
    tokens = _TOKEN.findall(_QUOTED.sub(" ", sentence))
    named = {each.strip(".-(") for each in tokens if _is_name(each)}
    return {each for each in parts | named if each}


def _is_name(token: str) -> bool:
    """Whether a token is no English word: joined, camelCase, called, a CONSTANT or a number."""
    bare = token.strip(".-(")
    return (
        token.endswith("(")
        or bool(_JOINED.search(bare) or _CAMEL_CASE.search(bare))
        or bool(_CONSTANT.fullmatch(bare) or _NUMBER.fullmatch(bare))
    )


def _text(source: Source) -> str:
    span = source.span
    return f"{span.path} {span.definition.symbol}\n{span.text}"
