"""A program under test: started, killed, paused, stopped, and watched for what it takes."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.03
READY_SECONDS = 90.0  # on a machine that does other work; what it took is in the report
STOP_SECONDS = 60.0
START_ATTEMPTS = 5  # PostgreSQL refuses while processes of its last life end
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class NotReady(Exception):
    """A program that did not come back."""


@dataclass(frozen=True)
class Usage:
    """What a process takes."""

    megabytes: float
    files: int


@dataclass
class Program:
    """How a program is launched and asked whether it is ready; its process while it runs."""

    name: str
    launch: Callable[[], int]  # returns the id of a new process
    log: Path
    is_ready: Callable[[], bool]
    dies_whole: bool = False  # killed with the processes that it started
    stop_signal: signal.Signals = signal.SIGTERM
    pid: int | None = None
    lives: int = 0

    def start(self) -> None:
        """Start it; it is not ready yet."""
        self.pid = self.launch()
        self.lives += 1

    def wait(self) -> float:
        """Block until it is ready, and return the seconds; raises NotReady with its last words."""
        began = time.monotonic()
        attempts = 1
        while not self.is_ready():
            time.sleep(POLL_SECONDS)
            if not is_alive(self._running()):
                if attempts == START_ATTEMPTS:
                    raise NotReady(f"{self.name} ended: {self.said()}")
                time.sleep(POLL_SECONDS * attempts)
                attempts += 1
                self.start()
            if time.monotonic() - began > READY_SECONDS:
                raise NotReady(f"{self.name} is not ready: {self.said()}")
        return time.monotonic() - began

    def kill(self) -> None:
        """kill -9, as a crash would."""
        for pid in self._family() if self.dies_whole else [self._running()]:
            _signal(pid, signal.SIGKILL)
        self._wait_for_end(STOP_SECONDS)

    def kill_all(self) -> None:
        """Kill it with all it started, as a loss of power would."""
        for pid in self._family():
            _signal(pid, signal.SIGKILL)
        self._wait_for_end(STOP_SECONDS)

    def pause(self) -> None:
        for pid in self._family():
            _signal(pid, signal.SIGSTOP)

    def resume(self) -> None:
        for pid in reversed(self._family()):
            _signal(pid, signal.SIGCONT)

    def stop(self) -> bool:
        """Ask it to stop; whether it did, or had to be killed."""
        _signal(self._running(), self.stop_signal)
        if self._wait_for_end(STOP_SECONDS):
            return True
        self.kill_all()
        return False

    def _wait_for_end(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while is_alive(self._running()):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS / 3)
        self.pid = None
        return True

    def usage(self) -> Usage:
        """Return what its process takes now."""
        folder = Path("/proc") / str(self._running())
        pages = int((folder / "statm").read_text().split()[1])
        return Usage(pages * PAGE_BYTES / 1e6, len(list((folder / "fd").iterdir())))

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-1500:]

    def _running(self) -> int:
        assert self.pid is not None, f"{self.name} does not run"
        return self.pid

    def _family(self) -> list[int]:
        """The process and all that it started, parents first."""
        parents = dict(_parents())
        family = [self._running()]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family


class Command:
    """A command that is run as a new process each time."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], folder: Path, log: Path
    ) -> None:
        self._command, self._env, self._folder, self._log = command, env, folder, log
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> int:
        """Start it; the one before has ended."""
        self.close()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                list(self._command),
                cwd=self._folder,
                env=dict(self._env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self._process.pid

    def close(self) -> None:
        """Take note that the last one ended."""
        if self._process is not None:
            self._process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process runs: one that ended and is not waited for does not."""
    try:
        stat = (Path("/proc") / str(pid) / "stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each process and its parent."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                yield int(folder.name), int(stat[1])


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
