"""Commits of a checkout as git has them: messages, files, and the symbols that they changed."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctx_core.batches import batches
from ctx_core.errors import GitFailed
from ctx_core.git.run import run_git
from ctx_core.secrets.redaction import redact
from ctx_indexer.source.languages import language_of

log = logging.getLogger(__name__)

GIT_SECONDS = 20.0  # of one call of git; a read of a history is many
BATCH = 100  # commits of one call of git
MAX_LOG_BYTES = 8 * 1024 * 1024  # of the messages and file names of a batch
MAX_PATCH_BYTES = 16 * 1024 * 1024  # of the patches of a batch; beyond it their symbols are unknown
FEW = 10  # commits of one call, where the patches of a batch are too large
MAX_MESSAGE = 4_000  # characters of a message
MAX_FILES = 100  # of a commit that are kept
MAX_SYMBOLS = 30
MAX_FIELD = 300  # characters of a name, subject or path

_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = "%x1e%H%x1f%an%x1f%aI%x1f%B%x1f"
_COMMIT = re.compile(rb"[0-9a-f]{40,64}")
_FILE = b"diff --git "
_HUNK = re.compile(rb"^@@ [^@]{1,80}@@ ?(.*)$")
# A line that defines something begins so, and goes on with a sign of code: a sentence does not.
_DEFINED = re.compile(
    r"^\s*(?:[a-z]+(?:\([a-z]+\))?\s+){0,5}"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|type|module|fun|impl|sub|macro)"
    r"\s+(?:\([^()]{0,60}\)\s*)?([A-Za-z_$][\w$]{0,80})"
    r"(?=\s*(?:[(<:{=\[;]|$)|\s+(?:extends|implements|struct|interface|for|where)\b)"
)
# The head of a function of C and its kin, as hunks name it: types, the name, its parameters.
_HEAD = re.compile(
    r"^(?:[\w:<>,\[\]~]+[\s*&]+){1,8}(?:\w+::){0,4}([A-Za-z_~]\w{0,80})\s{0,4}\([^=;]*$"
)
_NO_TYPES = frozenset(
    "return else await raise throw new import from print if for while del".split()
)
# Languages in whose files a patch changes no symbols.
_NO_CODE = frozenset(
    "text markdown rst asciidoc latex html css scss json yaml toml ini xml csv svg".split()
)


@dataclass(frozen=True)
class Commit:
    """A commit; `date` is when it was authored, ISO 8601. `path` is that of a followed file."""

    id: str
    author: str
    date: str
    message: str
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = field(default=())
    path: str = ""

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0]


def head_of(root: Path) -> str:
    """Return the id of the checked-out commit. Blocks. Raises GitFailed where there is none."""
    return _text(run_git(root, "rev-parse", "--verify", "HEAD^{commit}")).strip()


def recent_ids(root: Path, count: int) -> list[str]:
    """List the newest commits that the checkout stands on. Blocks. Raises GitFailed."""
    listed = run_git(root, "rev-list", f"--max-count={count}", "HEAD", "--", seconds=GIT_SECONDS)
    return _text(listed).split()


def read_commits(root: Path, ids: Sequence[str]) -> Iterator[list[Commit]]:
    """Yield commits in batches. Blocks at each. Raises GitFailed."""
    for batch in batches(ids, BATCH):
        given = "\n".join(batch).encode()
        printed = run_git(
            root,
            "log",
            "--stdin",
            "--no-walk=unsorted",
            "--no-decorate",
            "--name-only",
            "--no-renames",
            "-z",
            f"--format={_FORMAT}",
            stdin=given,
            seconds=GIT_SECONDS,
            max_bytes=MAX_LOG_BYTES,
        )
        symbols = _changed_symbols(root, batch)
        yield [replace(each, symbols=symbols.get(each.id, ())) for each in _parsed(_text(printed))]


def commits_of(root: Path, path: str, count: int) -> list[Commit]:
    """Return the newest commits that touched a file, also under its earlier names.

    Blocks. Raises GitFailed.
    """
    printed = run_git(
        root,
        "log",
        "--follow",
        "--no-decorate",
        f"--max-count={count}",
        "--name-only",
        "-z",
        f"--format={_FORMAT}",
        "--",
        f":(literal){path}",
        seconds=GIT_SECONDS,
        max_bytes=MAX_LOG_BYTES,
    )
    return [
        replace(each, path=each.files[-1] if each.files else path)
        for each in _parsed(_text(printed))
    ]


def _parsed(printed: str) -> Iterator[Commit]:
    for record in printed.split(_RECORD):
        parts = record.split(_FIELD)
        if len(parts) != 5 or not _COMMIT.fullmatch(parts[0].encode()):
            continue  # before the first record, or a message that holds our separators
        id_, author, date, message, names = parts
        files = [name[:MAX_FIELD] for name in names.replace("\n", "\0").split("\0") if name]
        yield Commit(
            id=id_,
            author=author[:MAX_FIELD],
            date=date,
            message=redact(message.strip()[:MAX_MESSAGE]).text,
            files=tuple(files[:MAX_FILES]),
        )


def _changed_symbols(root: Path, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of definitions that the patches of commits lie in or define, by commit.

    Of commits whose patches are too large there are none.
    """
    try:
        return _patched_symbols(_patches(root, ids))
    except GitFailed as error:
        if len(ids) > FEW:
            parts = [_changed_symbols(root, part) for part in batches(ids, FEW)]
            return {id_: names for part in parts for id_, names in part.items()}
        log.info("%d commits are indexed without the symbols they changed: %s", len(ids), error)
        return {}


def _patches(root: Path, ids: Sequence[str]) -> bytes:
    return run_git(
        root,
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-p",
        "-U0",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        stdin="".join(f"{each}\n" for each in ids).encode(),
        seconds=GIT_SECONDS,
        max_bytes=MAX_PATCH_BYTES,
    )


def _patched_symbols(printed: bytes) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    names: dict[str, None] = {}
    is_code = False
    for line in printed.split(b"\n"):
        if _COMMIT.fullmatch(line):
            names = found.setdefault(line.decode(), {})
        elif line.startswith(_FILE):
            is_code = _is_code(_text(line))
        elif is_code and len(names) < MAX_SYMBOLS:
            names.update(dict.fromkeys(_names(line)))
    return {id_: tuple(each)[:MAX_SYMBOLS] for id_, each in found.items()}


def _is_code(header: str) -> bool:
    """Whether the head of a file's patch names a file that may define symbols."""
    path = header.rstrip('"').rpartition(" b/")[2]
    return language_of(path) not in _NO_CODE


def _names(line: bytes) -> list[str]:
    """Return the names that a line of a patch defines, or that its hunk lies in."""
    if hunk := _HUNK.match(line[:400]):
        context = _text(hunk[1])
        return _DEFINED.findall(context) or _head(context)
    if line[:1] in (b"+", b"-") and line[:3] not in (b"+++", b"---"):
        return _DEFINED.findall(_text(line[1:300]))
    return []


def _head(context: str) -> list[str]:
    found = _HEAD.match(context)
    return [found[1]] if found and context.split(None, 1)[0] not in _NO_TYPES else []


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace")
