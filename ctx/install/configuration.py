"""Change the settings file of a client: our servers in, our servers out, the rest as it was."""

import difflib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctx.install.clients import Client
from ctx.install.jsonc import NotJson, get_member, remove_member, set_member
from ctx_core.errors import InvalidInput, StorageFailed
from ctx_core.files import replace_file
from ctx_core.toml import TomlRefused, has_key, remove_key, set_table

MAX_BYTES = 8 * 1024 * 1024  # a settings file; Claude Code keeps histories in its own
BACKUP_SUFFIX = ".before-ctx"
LEDGER = "installed.json"  # in the data folder: each file that we wrote, its hash and its copy


@dataclass(frozen=True)
class Edit:
    """The bytes of a file before and after a change; None where there is no file.

    `foreign` is the content before the change without our servers.
    """

    file: Path
    before: bytes | None
    after: bytes | None
    foreign: bytes | None = None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (
            (each or b"").decode().splitlines(keepends=True) for each in (self.before, self.after)
        )
        name = str(self.file)
        return "".join(difflib.unified_diff(old, new, name, name))


@dataclass(frozen=True)
class Written:
    """A file as we left it, and its copy from before, which taking our servers out restores."""

    sha256: str
    backup: str | None  # None where we made the file
    made: str | None = None  # the uppermost folder that we made for it


def with_servers(
    client: Client,
    file: Path,
    servers: Mapping[str, Mapping[str, Any]],
    names: Sequence[str] = (),
) -> Edit:
    """Plan a file with these servers, and without others of these names.

    Raises InvalidInput where the client could not read it.
    """
    before = read_file(file)
    text = decoded(file, before)
    try:
        foreign = _without(client, text, names)
        text = _without(client, text, [name for name in names if name not in servers])
        for name, values in servers.items():
            if client.kind == "toml":
                text = set_table(text, (*client.keys, name), values)
            else:
                text = set_member(text, [*client.keys, name], dict(values))
    except (NotJson, TomlRefused) as error:
        raise _broken(client, file, error) from error
    return Edit(file, before, text.encode(), foreign.encode())


def without_servers(client: Client, file: Path, names: Sequence[str], data_dir: Path) -> Edit:
    """Plan a file without these servers: as it was, to the byte, where nothing else changed."""
    before = read_file(file)
    if before is None:
        return Edit(file, None, None)
    if is_as_written(file, before, data_dir):
        return restored(file, before, data_dir)
    try:
        text = _without(client, decoded(file, before), names)
    except (NotJson, TomlRefused) as error:
        raise _broken(client, file, error) from error
    return Edit(file, before, text.encode())


def is_as_written(file: Path, content: bytes, data_dir: Path) -> bool:
    """Whether a file is unchanged since we wrote it."""
    written = _ledger(data_dir).get(str(file))
    return written is not None and written.sha256 == _digest(content)


def restored(file: Path, content: bytes, data_dir: Path) -> Edit:
    """Plan a file as it was before we wrote it. Raises StorageFailed where the copy is gone."""
    return Edit(file, content, _original(file, _ledger(data_dir)[str(file)]))


def _without(client: Client, text: str, names: Sequence[str]) -> str:
    for name in names:
        if client.kind == "toml":
            text = remove_key(text, (*client.keys, name))
        else:
            text = remove_member(text, [*client.keys, name])
    return text


def has_server(client: Client, file: Path, name: str) -> bool:
    """Tell whether a file has a server of this name. Raises InvalidInput."""
    text = decoded(file, read_file(file))
    try:
        if client.kind == "toml":
            return has_key(text, (*client.keys, name))
        return get_member(text, [*client.keys, name])
    except (NotJson, TomlRefused) as error:
        raise _broken(client, file, error) from error


def install(edit: Edit, data_dir: Path) -> None:
    """Copy a file to `FILE.before-ctx`, then write it; StorageFailed leaves it as it was."""
    assert edit.after is not None
    known = _ledger(data_dir)
    earlier = known.get(str(edit.file))
    if edit.before is None:
        backup = None
    elif earlier is not None and earlier.sha256 == _digest(edit.before):
        backup = earlier.backup  # our own work of before is no original
    else:
        # A client that wrote its file anew kept our servers in it: they were not there.
        original = edit.before if earlier is None else edit.foreign
        backup = f"{edit.file}{BACKUP_SUFFIX}"
        _write(Path(backup), edit.before if original is None else original, edit.file)
    made = _missing_folder(edit.file) if earlier is None else earlier.made
    _write(edit.file, edit.after, edit.file)
    written = Written(_digest(edit.after), backup, made)
    _save(data_dir, known | {str(edit.file): written})


def uninstall(edit: Edit, data_dir: Path) -> None:
    """Write a file without our servers, or delete one that we made. Raises StorageFailed."""
    known = _ledger(data_dir)
    written = known.pop(str(edit.file), None)
    try:
        if edit.after is None:
            edit.file.unlink(missing_ok=True)
        else:
            _write(edit.file, edit.after, edit.file)
        if written is not None and written.backup is not None:
            Path(written.backup).unlink(missing_ok=True)
        if written is not None and written.made is not None:
            _remove_empty(edit.file.parent, Path(written.made))
    except OSError as error:
        raise StorageFailed(f"{edit.file} could not be changed: {error}") from error
    _save(data_dir, known)


# --- files ---------------------------------------------------------------------------------


def read_file(file: Path) -> bytes | None:
    """Read a settings file; None where there is none. Raises InvalidInput or StorageFailed."""
    try:
        if not file.exists():
            return None
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            raise InvalidInput("file", f"{file} is no settings file: not regular, or too large")
        return file.read_bytes()
    except OSError as error:
        raise StorageFailed(f"{file} could not be read: {error.strerror}") from error


def decoded(file: Path, content: bytes | None) -> str:
    """Return the text of a file. Raises InvalidInput."""
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{file} is not UTF-8; nothing was changed") from error


def _write(file: Path, content: bytes, like: Path) -> None:
    """Replace a file, or the one that a link leads to, with the mode of another."""
    target = Path(os.path.realpath(file))
    try:
        mode = like.stat().st_mode if like.exists() else 0o600
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, content)
        target.chmod(mode & 0o777)
    except OSError as error:
        raise StorageFailed(f"{file} could not be written: {error.strerror}") from error


def _missing_folder(file: Path) -> str | None:
    """Return the uppermost folder that a file still needs."""
    missing = [folder for folder in file.parents if not folder.exists()]
    return str(missing[-1]) if missing else None


def _remove_empty(folder: Path, uppermost: Path) -> None:
    """Remove a folder and those above it up to one, as far as they are empty."""
    while folder.is_relative_to(uppermost) and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _original(file: Path, written: Written) -> bytes | None:
    if written.backup is None:
        return None
    original = read_file(Path(written.backup))
    if original is None:
        raise StorageFailed(f"{written.backup}, the copy of {file}, is gone; edit the file by hand")
    return original


def _broken(client: Client, file: Path, error: Exception) -> InvalidInput:
    return InvalidInput(
        "file", f"{file} is not what {client.title} reads ({error}); mend it, nothing was changed"
    )


# --- the ledger ----------------------------------------------------------------------------


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _ledger(data_dir: Path) -> dict[str, Written]:
    """Read which files we wrote; none where the ledger is lost: then texts are edited."""
    try:
        found = json.loads((data_dir / LEDGER).read_text())
        return {file: Written(**written) for file, written in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _save(data_dir: Path, ledger: Mapping[str, Written]) -> None:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = {file: asdict(written) for file, written in ledger.items()}
    replace_file(data_dir / LEDGER, json.dumps(content, indent=1))
