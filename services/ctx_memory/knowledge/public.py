"""Public entries: one readable file each in the knowledge folder, sidecars beside them."""

from collections.abc import Mapping
from typing import Any

from ctx_memory.knowledge.documents import (
    append_ndjson,
    dump_json,
    parse_decision,
    parse_ndjson,
    parse_object,
)
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope
from ctx_memory.knowledge.folder import KnowledgeFolder

HOMES: Mapping[EntryType, str] = {
    EntryType.KNOWLEDGE: "knowledge",
    EntryType.CONVENTION: "conventions",
    EntryType.DECISION: "knowledge/decisions",
    EntryType.SKILL: "skills",
}
SKILL_FILE = "SKILL.md"
META, SCOPES = ".meta.json", ".scope.json"
USAGE, FEEDBACK, PROPOSALS = "usage", "feedback", "proposals"
EVENT_FILES = {USAGE: ".usage.ndjson", FEEDBACK: ".feedback.ndjson"}


def entry_path(entry_type: EntryType, key: str) -> str:
    """Where the text of an entry lies in the folder."""
    home = HOMES[entry_type]
    return f"{home}/{key}/{SKILL_FILE}" if entry_type is EntryType.SKILL else f"{home}/{key}.md"


def entry_of(path: str) -> tuple[EntryType, str] | None:
    """The type and key of the entry whose text lies at a path; None for every other file."""
    home, _, name = path.rpartition("/")
    if name == SKILL_FILE and home.count("/") == 1 and home.startswith("skills/"):
        return EntryType.SKILL, home.removeprefix("skills/")
    for entry_type, folder in HOMES.items():
        if home == folder and name.endswith(".md") and entry_type is not EntryType.SKILL:
            return entry_type, name.removesuffix(".md")
    return None


class PublicEntries:
    """Reads and writes the entries of a folder. Every method blocks.

    A folder of another program may also hold files that it calls private: they have that scope.
    """

    def __init__(self, folder: KnowledgeFolder) -> None:
        self._folder = folder

    def keys(self, entry_type: EntryType) -> list[str]:
        home = HOMES[entry_type]
        if entry_type is not EntryType.SKILL:
            return [name.removesuffix(".md") for name in self._folder.names(home, ".md")]
        return [
            name
            for name in self._folder.folders(home)
            if SKILL_FILE in self._names(f"{home}/{name}")
        ]

    def all(self, entry_type: EntryType) -> list[KnowledgeEntry]:
        """Every entry of a type, by key."""
        found = (self.load(entry_type, key) for key in self.keys(entry_type))
        return [entry for entry in found if entry is not None]

    def load(self, entry_type: EntryType, key: str) -> KnowledgeEntry | None:
        content = self._folder.read(entry_path(entry_type, key))
        if content is None:
            return None
        return KnowledgeEntry(
            entry_type,
            key,
            content,
            self._scope(entry_type, key),
            self._author(entry_type, key, content),
            self._events(key) if entry_type is EntryType.SKILL else {},
        )

    def save(self, entry: KnowledgeEntry) -> None:
        """Write an entry that is public from now on."""
        self._folder.write(entry_path(entry.type, entry.key), entry.content)
        if entry.type is EntryType.SKILL:
            self._save_events(entry)
        if entry.author and entry.type is not EntryType.DECISION:  # its text names the author
            self._edit_sidecar(entry, META, {"author": entry.author})
        self._edit_sidecar(entry, SCOPES, None)

    def delete(self, entry_type: EntryType, key: str) -> bool:
        """Delete an entry with all that lies beside it; whether it was there."""
        entry = self.load(entry_type, key)
        if entry is None:
            return False
        if entry_type is EntryType.SKILL:
            self._delete_skill(key)
        self._folder.remove(entry_path(entry_type, key))
        self._edit_sidecar(entry, META, None)
        self._edit_sidecar(entry, SCOPES, None)
        return True

    def unshared(self) -> set[str]:
        """Files that sidecars call private or ephemeral, and everything of such skills."""
        found = set()
        for entry_type, home in HOMES.items():
            for name, scope in self._sidecar(home, SCOPES).items():
                if scope in (Scope.PRIVATE, Scope.EPHEMERAL):
                    is_skill = entry_type is EntryType.SKILL
                    found.add(f"{home}/{name.partition('/')[0]}/" if is_skill else f"{home}/{name}")
        return found

    # --- sidecars --------------------------------------------------------------------------

    def _names(self, folder: str) -> list[str]:
        return self._folder.names(folder)

    def _sidecar(self, home: str, name: str) -> dict[str, Any]:
        return parse_object(self._folder.read(f"{home}/{name}"))

    def _scope(self, entry_type: EntryType, key: str) -> Scope:
        stored = self._sidecar(HOMES[entry_type], SCOPES)
        scope = next(
            (stored[name] for name in _sidecar_names(entry_type, key) if name in stored), None
        )
        return Scope(scope) if scope in list(Scope) else Scope.PUBLIC

    def _author(self, entry_type: EntryType, key: str, content: str) -> str:
        if entry_type is EntryType.DECISION:
            return parse_decision(content).author
        stored = self._sidecar(HOMES[entry_type], META)
        for name in _sidecar_names(entry_type, key):
            if isinstance(stored.get(name), dict):
                return str(stored[name].get("author", ""))
        return ""

    def _edit_sidecar(self, entry: KnowledgeEntry, sidecar: str, value: Any) -> None:
        """Set the value of an entry in a sidecar; None removes it, and an empty sidecar goes."""
        home = HOMES[entry.type]
        before = self._sidecar(home, sidecar)
        names = _sidecar_names(entry.type, entry.key)
        after = {name: stored for name, stored in before.items() if name not in names}
        if value is not None:
            after[names[0]] = value
        if after == before:
            return
        if after:
            self._folder.write(f"{home}/{sidecar}", dump_json(after))
        else:
            self._folder.remove(f"{home}/{sidecar}")

    # --- feedback and proposals of a skill -------------------------------------------------

    def _events(self, key: str) -> dict[str, Any]:
        home = f"{HOMES[EntryType.SKILL]}/{key}"
        found: dict[str, Any] = {
            name: parse_ndjson(self._folder.read(f"{home}/{file}") or "")
            for name, file in EVENT_FILES.items()
        }
        proposals = f"{home}/.{PROPOSALS}"
        found[PROPOSALS] = {
            name.removesuffix(".json"): parse_object(self._folder.read(f"{proposals}/{name}"))
            for name in self._folder.names(proposals, ".json")
        }
        return {name: value for name, value in found.items() if value}

    def _save_events(self, entry: KnowledgeEntry) -> None:
        home = f"{HOMES[entry.type]}/{entry.key}"
        before = self._events(entry.key)
        for name, file in EVENT_FILES.items():
            known, events = before.get(name, []), entry.events.get(name, [])
            if events == known:
                continue
            is_longer = events[: len(known)] == known
            text = (self._folder.read(f"{home}/{file}") or "") if is_longer else ""
            added = append_ndjson(text, events[len(known) :] if is_longer else events)
            self._folder.write(f"{home}/{file}", added)
        for number, proposal in entry.events.get(PROPOSALS, {}).items():
            if before.get(PROPOSALS, {}).get(number) != proposal:
                self._folder.write(f"{home}/.{PROPOSALS}/{number}.json", dump_json(proposal))

    def _delete_skill(self, key: str) -> None:
        home = f"{HOMES[EntryType.SKILL]}/{key}/"
        for name in self._folder.files():
            if name.startswith(home):
                self._folder.remove(name)


def _sidecar_names(entry_type: EntryType, key: str) -> tuple[str, ...]:
    """The names of an entry in sidecars: `retries.md`; of a skill `deploy/SKILL.md`, `deploy`."""
    return (f"{key}/{SKILL_FILE}", key) if entry_type is EntryType.SKILL else (f"{key}.md",)
