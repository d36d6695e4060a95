"""The history of a repository: commits, their knowledge files, how commits relate."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ctx_core.errors import GitFailed, GitLocked
from ctx_core.git.run import git, git_line, run_git
from ctx_memory.knowledge.repository import Repository

REGULAR_MODES = ("100644", "100755")
LOCK_ATTEMPTS, LOCK_SECONDS = 20, 0.1  # an index of a million files takes a second to write
IDENTITY = "ctx <ctx@localhost>"  # where the user has told git no name


@dataclass(frozen=True)
class Blob:
    """A file of a commit: its mode and the name of its content."""

    mode: str
    name: str


class History:
    """Reads and writes commits of one repository. Every method blocks and may raise GitFailed."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._top = repository.top

    def head(self) -> str | None:
        """The commit of HEAD; None before the first one."""
        return git_line(self._top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def resolve(self, name: str) -> str | None:
        return git_line(self._top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")

    def blobs(self, commit: str | None) -> dict[str, Blob]:
        """Every file of the knowledge folder in a commit, by path in the folder."""
        if commit is None:
            return {}
        prefix = self.repository.prefix
        listed = run_git(self._top, "ls-tree", "-r", "-z", "--full-tree", commit, "--", prefix)
        found = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            head, _, path = line.partition("\t")
            mode, _, name = head.split(" ")
            if path == prefix:
                raise GitFailed(f"{prefix} is not a folder in commit {commit[:7]}.")
            found[path.removeprefix(f"{prefix}/")] = Blob(mode, name)
        return found

    def contents(self, names: Collection[str]) -> dict[str, bytes]:
        """Read blobs by name; raises GitFailed if one is missing, as in a partial clone."""
        asked = "".join(f"{name}\n" for name in dict.fromkeys(names)).encode()
        output = run_git(self._top, "cat-file", "--batch", stdin=asked) if asked else b""
        found, position = {}, 0
        while position < len(output):
            end = output.index(b"\n", position)
            parts = output[position:end].decode().split(" ")
            if len(parts) != 3:
                raise GitFailed("An object is missing: run `git fetch --refetch` in this clone.")
            size = int(parts[2])
            found[parts[0]] = output[end + 1 : end + 1 + size]
            position = end + 1 + size + 1
        return found

    def merge_base(self, one: str, other: str) -> str | None:
        return git_line(self._top, "merge-base", one, other)

    def is_ancestor(self, older: str, newer: str) -> bool:
        return git(self._top, "merge-base", "--is-ancestor", older, newer) is not None

    def count(self, excluded: str | None, newer: str) -> int:
        """How many commits `newer` has that the other one has not."""
        span = [newer] if excluded is None else [newer, f"^{excluded}"]
        return int(git_line(self._top, "rev-list", "--count", *span) or 0)

    def changes_code(self, older: str, newer: str) -> bool:
        """Whether two commits differ outside the knowledge folder."""
        outside = f":(top,exclude,literal){self.repository.prefix}"
        command = ("diff-tree", "-r", "--name-only", "-z", older, newer, "--", ":(top)", outside)
        return bool(run_git(self._top, *command))

    def subject(self, commit: str) -> str:
        """The first line of a commit's message."""
        message = run_git(self._top, "cat-file", "commit", commit).partition(b"\n\n")[2]
        return message.decode("utf-8", "replace").partition("\n")[0]

    def has_code(self, commit: str) -> bool:
        """Whether a commit holds anything outside the knowledge folder."""
        listed = run_git(self._top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        inside = f"{self.repository.prefix}/".encode()
        return any(not path.startswith(inside) for path in listed.split(b"\0")[:-1])

    def last_with(self, path: str) -> str | None:
        """The latest commit of any branch that wrote a file of the knowledge folder."""
        full = f":(top,literal){self.repository.prefix}/{path}"
        return git_line(
            self._top,
            "log", "--all", "--max-count=1", "--diff-filter=AM", "--format=%H", "--", full,
        )  # fmt: skip

    # --- writing ---------------------------------------------------------------------------

    def commit(
        self, parents: Sequence[str], changes: Mapping[str, bytes | None], message: str
    ) -> str:
        """Make a commit: the first parent's tree with these files of the knowledge folder.

        None deletes a file. No branch moves, and neither the index nor the work tree changes.
        """
        first, others = (parents[0] if parents else None), parents[1:]
        modes = {path: blob.mode for path, blob in self.blobs(first).items()}
        who = self._identity()
        text = message.encode()
        lines = [
            b"commit %s" % self.ref("made").encode(),
            b"mark :1",
            b"author %s" % who,
            b"committer %s" % who,
            b"data %d" % len(text),
            text,
        ]
        lines += [b"from %s" % first.encode()] if first else []
        lines += [b"merge %s" % other.encode() for other in others]
        for path, content in changes.items():
            quoted = self._quoted(path)
            if content is None:
                lines.append(b"D " + quoted)
            else:
                mode = modes.get(path, REGULAR_MODES[0])
                mode = mode if mode in REGULAR_MODES else REGULAR_MODES[0]
                lines += [b"M %s inline %s" % (mode.encode(), quoted)]
                lines += [b"data %d" % len(content), content]
        lines += [b"get-mark :1", b"done", b""]
        stream = b"\n".join(lines)
        made = run_git(self._top, "fast-import", "--quiet", "--force", "--done", stdin=stream)
        return made.decode().strip()

    def ref(self, name: str) -> str:
        """A reference of ours. It belongs to one work tree and is never pushed."""
        return f"refs/worktree/context-teleport/{name}"

    def set_refs(self, refs: Mapping[str, str | None]) -> None:
        """Set or delete references of ours, all or none."""
        lines = [
            f"delete {self.ref(name)}\n"
            if target is None
            else f"update {self.ref(name)} {target}\n"
            for name, target in refs.items()
            if target is not None or self.resolve(self.ref(name)) is not None
        ]
        if lines:
            self._run_locked("update-ref", "--stdin", stdin="".join(lines).encode())

    def move_head(self, new: str, old: str | None, message: str) -> None:
        """Move the current branch, or a detached HEAD, if it still is at `old`."""
        first_line = message.partition("\n")[0]
        self._run_locked("update-ref", "-m", first_line, "HEAD", new, old or _none(new))

    def update_index(self, old: str | None, new: str) -> None:
        """Put the knowledge folder of `new` into the index where it differs from `old`.

        Everything else in the index, such as changes that the user staged, stays.
        """
        before, after = self.blobs(old), self.blobs(new)
        lines = []
        for path in sorted({*before, *after}):
            blob = after.get(path)
            if blob == before.get(path):
                continue
            full = f"{self.repository.prefix}/{path}"
            lines.append(
                f"0 {_none(new)}\t{full}" if blob is None else f"{blob.mode} {blob.name}\t{full}"
            )
        if lines:
            data = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
            self._run_locked("update-index", "-z", "--index-info", stdin=data)

    def _run_locked(self, *arguments: str, stdin: bytes = b"") -> None:
        """Run a command that takes a lock of git; an editor may hold it for a moment."""
        for attempt in range(LOCK_ATTEMPTS):
            try:
                run_git(self._top, *arguments, stdin=stdin)
                return
            except GitLocked:
                if attempt == LOCK_ATTEMPTS - 1:
                    raise
            time.sleep(LOCK_SECONDS)

    def _identity(self) -> bytes:
        identity = git_line(self._top, "var", "GIT_COMMITTER_IDENT")
        return (identity or f"{IDENTITY} {int(time.time())} +0000").encode(
            "utf-8", "surrogateescape"
        )

    def _quoted(self, path: str) -> bytes:
        full = f"{self.repository.prefix}/{path}".replace("\\", "\\\\").replace('"', '\\"')
        return f'"{full}"'.encode()


def _none(like: str) -> str:
    """How git calls the object that is not there; as long as its other names."""
    return "0" * len(like)
