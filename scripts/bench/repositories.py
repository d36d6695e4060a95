"""Temporary git repositories."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=no")


@dataclass(frozen=True)
class Repository:
    """A folder under git."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> "Repository":
        root.mkdir(parents=True)
        repository = cls(root)
        repository.git("init", "-q", "-b", "main")
        return repository

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def commit(self, message: str = "change") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
