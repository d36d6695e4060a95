"""Instruction files of agents (AGENTS.md, CLAUDE.md) as proposed entries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput, KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.entries import add_entry
from ctx_memory.knowledge.entry import EntryType, entry_key
from ctx_memory.knowledge.folder import MAX_FILE_BYTES
from ctx_memory.knowledge.merge.sections import Section, split_sections
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret

PREAMBLE = "overview"
# Blocks that other programs write into these files from a store of their own.
_MANAGED = re.compile(r"<!-- ctx:start -->.*?(<!-- ctx:end -->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class ProposedEntry:
    """A section that could become an entry. `problem` says why it cannot be accepted as it is."""

    key: str
    content: str
    problem: str = ""


async def propose_entries(
    store: KnowledgeStore, source: Path, entry_type: EntryType
) -> list[ProposedEntry]:
    """Read a Markdown file as proposed entries, one for each `## ` section; writes nothing.

    Raises InvalidInput if there is no such file.
    """
    text = await DISK.run(_read, source)
    known = {entry.key for entry in await store.all(entry_type)}
    proposed: dict[str, ProposedEntry] = {}
    for section in split_sections(_MANAGED.sub("", text)):
        if not section.content or _is_title_alone(section):
            continue
        key = _free_key(section, proposed)
        problem = f"{key} exists already" if key in known else _secret(section.content)
        proposed[key] = ProposedEntry(key, f"{section.content}\n", problem)
    return list(proposed.values())


async def accept_entries(
    store: KnowledgeStore,
    proposed: Sequence[ProposedEntry],
    entry_type: EntryType,
    keys: Sequence[str] | None,
    author: str,
) -> list[str]:
    """Store the proposed entries of these keys, or all without a problem; return their keys.

    Raises KnowledgeNotFound for a key that is not proposed, KnowledgeRefused for one that cannot
    be stored.
    """
    by_key = {each.key: each for each in proposed}
    if missing := [key for key in keys or () if key not in by_key]:
        raise KnowledgeNotFound(f"No proposal '{missing[0]}'")
    chosen = [each for each in proposed if not each.problem]
    if keys is not None:
        chosen = [by_key[key] for key in keys]
        if wrong := next((each for each in chosen if each.problem), None):
            raise KnowledgeRefused(wrong.problem)
    return [
        (await add_entry(store, entry_type, each.key, each.content, author=author)).key
        for each in chosen
    ]


def _read(source: Path) -> str:
    try:
        with source.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InvalidInput("file", f"{source} cannot be read: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput("file", f"{source} has more than {MAX_FILE_BYTES} bytes")
    return content.decode("utf-8", "replace")


def _is_title_alone(section: Section) -> bool:
    lines = [line for line in section.content.splitlines() if line.strip()]
    return len(lines) == 1 and lines[0].startswith("#")


def _free_key(section: Section, taken: dict[str, ProposedEntry]) -> str:
    """A key made of the heading; repeated headings are numbered."""
    try:
        name = entry_key(section.title.lstrip("# ")) if section.title else PREAMBLE
    except KnowledgeRefused:  # a heading of signs alone, or longer than a file name
        name = "section"
    number = 2
    key = name
    while key in taken:
        key, number = f"{name}-{number}", number + 1
    return key


def _secret(text: str) -> str:
    try:
        refuse_secret(text)
    except KnowledgeRefused as error:
        return error.message
    return ""
