"""One random history of two clones, and the check that its merges lost nothing."""

import asyncio
import random
import re
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ctx_memory.knowledge.board import append_session, read_sessions
from ctx_memory.knowledge.decisions import all_decisions, record_decision
from ctx_memory.knowledge.documents import Decision
from ctx_memory.knowledge.entry import Scope
from ctx_memory.knowledge.sync.working_copy import is_synced
from scripts.bench.fixtures.clones import Clone, Clones, committed, every_object

STEPS = (8, 16)  # of a history, at least and at most
KEYS = ("architecture", "operations", "faq", "testing")
HEADINGS = ("Setup", "Limits", "Owners", "Open questions", "History")
ABORTED = 0.3  # share of the conflicts that an agent gives up
MAX_TURNS = 8  # of syncing in the end; four are the rule
LINE = re.compile(r"line-\d+-\d+")
MARKERS = ("<<<<<<<", ">>>>>>>")
# How often a step is taken, relative to the others.
WEIGHTS = {
    "add_line": 8, "edit_by_hand": 3, "replace_line": 2, "drop": 1, "decide": 3, "end_session": 2,
    "hide": 1, "commit_code": 1, "publish_code": 1, "push": 4, "pull": 3, "pull_by_agent": 2,
}  # fmt: skip


class Loss(Exception):
    """A history whose merge lost something; the message says what."""


class TwoClones:
    """Two clones that change by chance. Every line is unique, so that its way can be followed."""

    def __init__(self, seed: int, clones: Clones) -> None:
        self.counts: Counter[str] = Counter(histories_run=1)
        self._seed = seed
        self._random = random.Random(seed)
        self._remote = clones.remote
        self._clones = (clones.clone("a"), clones.clone("b"))
        self._number = 0
        self._written: dict[str, str] = {}  # line → key of its entry
        self._removed: set[str] = set()
        self._passed_over: set[str] = set()  # keys of entries where a strategy chose one side
        self._titles: list[str] = []
        self._sessions: list[str] = []
        self._hidden: list[str] = []

    # --- steps -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Take a random number of random steps, each in a random clone."""
        names = list(WEIGHTS)
        for _ in range(self._random.randint(*STEPS)):
            name = self._random.choices(names, [WEIGHTS[each] for each in names])[0]
            step: Callable[[Clone], Awaitable[None]] = getattr(self, f"_{name}")
            await step(self._random.choice(self._clones))
            self.counts[name] += 1

    def _new_line(self, key: str = "") -> str:
        self._number += 1
        line = f"line-{self._seed}-{self._number}"
        if key:
            self._written[line] = key
        return line

    async def _with_line(self, clone: Clone) -> tuple[str, str]:
        """An entry, and its text with one more line in a section, new or known."""
        key, heading = self._random.choice(KEYS), f"## {self._random.choice(HEADINGS)}"
        text = await clone.text(key) or f"# {key}\n"
        line = f"- {self._new_line(key)}"
        if f"{heading}\n" not in text:
            return key, f"{text.rstrip()}\n\n{heading}\n\n{line}\n"
        return key, text.replace(f"{heading}\n", f"{heading}\n\n{line}", 1)

    async def _add_line(self, clone: Clone) -> None:
        await clone.put(*await self._with_line(clone))

    async def _edit_by_hand(self, clone: Clone) -> None:
        """Write as an editor does: not atomically, without locks and sidecars."""
        key, text = await self._with_line(clone)
        file = clone.folder / "knowledge" / f"{key}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    async def _replace_line(self, clone: Clone) -> None:
        key = self._random.choice(KEYS)
        text = await clone.text(key) or ""
        if lines := LINE.findall(text):
            old = self._random.choice(lines)
            self._removed.add(old)
            await clone.put(key, re.sub(rf"{old}\b", self._new_line(key), text))

    async def _drop(self, clone: Clone) -> None:
        key = self._random.choice(KEYS)
        text = await clone.text(key)
        if text is not None:
            self._removed.update(LINE.findall(text))
            await clone.drop(key)

    async def _decide(self, clone: Clone) -> None:
        title = f"Decision {self._new_line()}"
        self._titles.append(title)
        await record_decision(clone.store, Decision(0, title))

    async def _end_session(self, clone: Clone) -> None:
        self._sessions.append(await append_session(clone.store, "bench", "done", [], []))

    async def _hide(self, clone: Clone) -> None:
        line = self._new_line()
        self._hidden.append(line)
        await clone.put(f"private-{self._number}", line, Scope.PRIVATE)

    async def _commit_code(self, clone: Clone) -> None:
        clone.code(f"{self._new_line()}.py", "code\n")

    async def _publish_code(self, clone: Clone) -> None:
        """Push code as a person does; git refuses where the remote has moved on."""
        clone.code(f"{self._new_line()}.py", "code\n")
        await asyncio.to_thread(_run_git, clone.root, "push", "-q", "origin", "main")

    # --- syncs -------------------------------------------------------------------------------

    async def _push(self, clone: Clone) -> None:
        answer = await clone.push()
        self.counts[f"push {answer['status']}"] += 1

    async def _pull(self, clone: Clone) -> None:
        await self._pull_with(clone, self._random.choice(("ours", "theirs")))

    async def _pull_with(self, clone: Clone, strategy: str) -> None:
        answer = await clone.pull(strategy)
        self.counts[f"pull {answer['status']}"] += 1
        for file in answer.get("files", ()):
            self.counts["conflicting files"] += 1
            self._passed_over.add(file.rpartition("/")[2].removesuffix(".md"))

    async def _pull_by_agent(self, clone: Clone) -> None:
        """Resolve conflicts by keeping the lines of both sides, or abort."""
        answer = await clone.pull("agent")
        self.counts[f"pull {answer['status']}"] += 1
        if answer["status"] != "conflicts":
            return
        if self._random.random() < ABORTED:
            await clone.resolution.abort()
        else:
            await self._resolve(clone, answer["files"])

    async def _resolve(self, clone: Clone, files: list[str]) -> None:
        for file in files:
            self.counts["conflicting files"] += 1
            detail = await clone.resolution.detail(file)
            await clone.resolution.resolve(file, self._both(detail))
        await clone.resolution.finalize()

    def _both(self, detail: dict[str, Any]) -> str:
        ours, theirs = detail["ours_content"] or "", detail["theirs_content"] or ""
        missing = [line for line in LINE.findall(theirs) if line not in ours]
        return f"{ours.rstrip()}\n" + "".join(f"- {line}\n" for line in missing)

    async def sync_all(self) -> None:
        """Sync the clones in turn until both have all; conflicts keep the lines of both sides."""
        complete: set[Clone] = set()
        for turn in range(MAX_TURNS):
            clone = self._clones[turn % 2]
            has_pushed = await self._sync(clone)
            complete = {clone} if has_pushed else {clone, *complete}
            if len(complete) == len(self._clones):
                return
        raise Loss(f"{MAX_TURNS} syncs did not bring the clones together")

    async def _sync(self, clone: Clone) -> bool:
        """Pull and push; return whether the remote has changed."""
        pulled = await clone.pull("agent")
        if pulled["status"] == "conflicts":
            await self._resolve(clone, pulled["files"])
        pushed = await clone.push()
        self.counts[f"pull {pulled['status']}"] += 1
        self.counts[f"push {pushed['status']}"] += 1
        return bool(pushed["status"] != "nothing_to_push")

    # --- the check ---------------------------------------------------------------------------

    async def check(self) -> None:
        """Raise Loss if anything is lost, differs, is broken, or is where it must not be."""
        shared = committed(self._remote, "main") if self._number else {}
        for clone in self._clones:
            self._require(committed(clone.root) == shared, f"{clone.root.name} differs")
            self._require(_on_disk(clone) == shared, f"the folder of {clone.root.name} differs")
            await self._check_records(clone)
        text = b"\n".join(shared.values()).decode()
        self._require(not any(mark in text for mark in MARKERS), "a conflict marker")
        self._check_lines(set(LINE.findall(text)))
        self._check_repositories()

    def _check_lines(self, kept: set[str]) -> None:
        gone = {line for line in self._written if line not in kept | self._removed}
        for line in gone:
            self._require(self._written[line] in self._passed_over, f"{line} is gone unsaid")
        if gone:
            reachable = "".join(clone.git("log", "--all", "-p", "-m") for clone in self._clones)
            for line in gone:
                self._require(re.search(rf"{line}\b", reachable), f"{line} is in no commit")
        self.counts["lines written"] = len(self._written)
        self.counts["lines removed on purpose"] = len(self._removed)
        self.counts["lines passed over by a strategy, in a commit"] = len(gone)

    async def _check_records(self, clone: Clone) -> None:
        decisions = [each.decision for each in await all_decisions(clone.store)]
        titles = sorted(each.title for each in decisions)
        numbers = {each.number for each in decisions}
        self._require(titles == sorted(self._titles), "decisions are lost")
        self._require(len(numbers) == len(decisions), "two decisions have one number")
        sessions = [record["id"] for record in await read_sessions(clone.store)]
        self._require(sorted(sessions) == sorted(self._sessions), "sessions are lost")

    def _check_repositories(self) -> None:
        for root in (self._remote, *(clone.root for clone in self._clones)):
            checked = _run_git(root, "fsck", "--strict", "--no-dangling")
            self._require(checked.returncode == 0, f"{root.name} is broken: {checked.stderr}")
            shown = set(LINE.findall(every_object(root).decode("utf-8", "replace")))
            for line in self._hidden:
                self._require(line not in shown, f"private {line} is in {root.name}")
        for clone in self._clones:
            outside = [line for line in clone.status() if ".context-teleport" not in line]
            self._require(not outside, f"code of {clone.root.name} changed: {outside}")

    def _require(self, holds: object, problem: str) -> None:
        if not holds:
            raise Loss(problem)


def _run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def _on_disk(clone: Clone) -> dict[str, bytes]:
    files = clone.store.project.folder.files()
    return {path: (clone.folder / path).read_bytes() for path in files if is_synced(path)}
