"""An agent with ripgrep and a viewer that shows forty lines.

Its policy is what a careful user does: narrow patterns first, one language where it is known, the
best file first, and nothing read twice.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.agents.questions import AgentTask
from scripts.bench.agents.transcript import ShownLine, Transcript

WINDOW = 40  # lines of one look at a file
LINES_BEFORE = 2  # of a definition's name: decorators and comments
LINES_AFTER_CALL = 4  # of a call whose definition is looked for above it
PAGE = 100  # lines of one answer, as ours
MAX_FILES = 30  # of a list of files
FEW = 5  # hits that are read one by one; more are narrowed first
MAX_CALLS = 20  # of one question; whoever has not found it then gives up
MAX_COLUMNS = "240"
TYPES = {"python": "py", "typescript": "ts", "javascript": "js", "cpp": "cpp", "csharp": "cs"}
DEFINING = (
    r"\b(class|def|function|func|fn|interface|struct|enum|trait|type|module|object|protocol|data"
    r"|defmodule|defp?|const|let|var|val)\b[^=(]*(\([^)]*\)\s*)?\b{name}\b"
)
STOP_WORDS = frozenset(
    "a an and are as at be by does for from get gets has have how if in into is it its made of on "
    "or out so that the their then there they this to up use used uses using via was what when "
    "where which who why with work works you".split()
)


@dataclass(frozen=True)
class Match:
    """A line that ripgrep found."""

    path: str
    line: int


class RipgrepAgent:
    """Answers questions about one folder by patterns and windows."""

    def __init__(self, root: Path, subdir: str) -> None:
        self._root = root
        self._folder = subdir or "."

    async def answer(self, question: AgentTask, transcript: Transcript) -> None:
        """Make calls until the policy has nothing more to read."""
        kind = question.family.split(",", maxsplit=1)[0]
        steps = {
            "question": self._ask,
            "name": self._look_up,
            "look-up": self._look_up,
            "callers": self._callers,
            "subclasses": self._subclasses,
        }[kind]
        for _ in steps(question, transcript):
            if is_answered(question, transcript) or transcript.calls >= MAX_CALLS:
                return

    # Each policy yields after every call, so that it ends when the answer has been seen.

    def _ask(self, question: AgentTask, transcript: Transcript) -> Iterator[None]:
        words = re.findall(r"[A-Za-z_]{3,}", question.text)
        words = [word for word in words if word.lower() not in STOP_WORDS]
        pattern = "|".join(map(_stem, dict.fromkeys(words)))
        counts = self._count_files(pattern, transcript)
        yield
        stems = [_stem(word).lower() for word in words]
        order = sorted(
            counts, key=lambda path: (-sum(s in path.lower() for s in stems), -counts[path])
        )
        for path in order:
            matches = self._search(["-i"], pattern, transcript, path)
            yield
            if matches:
                middle = _densest(matches)
                yield from self._read_on(path, middle - WINDOW // 2, middle, transcript)

    def _look_up(self, question: AgentTask, transcript: Transcript) -> Iterator[None]:
        *scope, name = re.split(r"\.|::|#", question.text)
        kind = self._type(question.language)
        matches = self._search(kind, DEFINING.replace("{name}", re.escape(name)), transcript)
        yield
        if scope and not 0 < len(matches) <= FEW:
            outer = re.escape(scope[-1])
            around = self._search(kind, DEFINING.replace("{name}", outer), transcript)
            yield
            files = {match.path for match in around}
            inside = [match for match in matches if match.path in files]
            if not inside:
                pattern = rf"\b{re.escape(name)}\s*[(<=:]"
                for path in sorted(files):
                    inside += self._search([], pattern, transcript, path)
                    yield
            matches = inside or matches
        if not matches:
            matches = self._search([*kind, "-w"], re.escape(name), transcript)
            yield
        for match in matches:
            start = match.line - LINES_BEFORE
            yield from self._read_on(match.path, start, _last_line(question, match), transcript)

    def _callers(self, question: AgentTask, transcript: Transcript) -> Iterator[None]:
        kind = self._type(question.language)
        self._search(kind, rf"\b{question.text}\s*\(", transcript)
        yield
        for target in question.targets:
            last = target.lines[0] + LINES_AFTER_CALL
            while transcript.cost(target) is None and last > 0:
                self._window(target.path, last - WINDOW + 1, transcript)
                last -= WINDOW
                yield

    def _subclasses(self, question: AgentTask, transcript: Transcript) -> Iterator[None]:
        kind, name = self._type(question.language), question.text
        if question.language == "python":
            patterns = [rf"class\s+\w+\s*\(.*\b{name}\b"]
        else:
            patterns = [rf"\b(extends|implements)\b.*\b{name}\b"]
        for pattern in patterns:
            self._search(kind, pattern, transcript)
            yield
        self._search([*kind, "-w", "-B", "2"], name, transcript)  # a list of bases on many lines
        yield

    # --- calls -----------------------------------------------------------------------------

    def _type(self, language: str) -> list[str]:
        return ["-t", TYPES.get(language, language)]

    def _search(
        self, options: Sequence[str], pattern: str, transcript: Transcript, path: str = ""
    ) -> list[Match]:
        """Show matching lines under their files, a page a call; return those that match."""
        where = path or self._folder
        command = ["rg", "-n", "--heading", "--sort", "path", "-M", MAX_COLUMNS]
        command += [*options, "-e", pattern, "--with-filename", where]
        rows = self._run(command).splitlines()
        matches: list[Match] = []
        current = ""
        for first in range(0, max(len(rows), 1), PAGE):
            places: list[ShownLine] = []
            end = 0
            page = rows[first : first + PAGE]
            for row in page:
                end += len(row) + 1
                numbered = re.match(r"(\d+)([:-])", row)
                if numbered is None:
                    current = row.removeprefix("./") or current
                    continue
                line = int(numbered.group(1))
                places.append(ShownLine(end, current, line))
                if numbered.group(2) == ":":
                    matches.append(Match(current, line))
            transcript.add(" ".join(command), "\n".join(page), places)
        return matches

    def _count_files(self, pattern: str, transcript: Transcript) -> dict[str, int]:
        """Show the files with the most matching lines."""
        command = ["rg", "-c", "-i", "-e", pattern, self._folder]
        counts: Counter[str] = Counter()
        for row in self._run(command).splitlines():
            path, _, count = row.rpartition(":")
            counts[path.removeprefix("./")] = int(count)
        best = dict(counts.most_common(MAX_FILES))
        text = "\n".join(f"{path}:{count}" for path, count in best.items())
        transcript.add(f"{' '.join(command)} | sort -t: -k2 -nr | head -{MAX_FILES}", text, [])
        return best

    def _read_on(self, path: str, start: int, end: int, transcript: Transcript) -> Iterator[None]:
        """Show a window, and those below it up to a line."""
        first = max(start, 1)
        while True:
            if not self._window(path, first, transcript):
                return
            yield
            first += WINDOW
            if first > end:
                return

    def _window(self, path: str, start: int, transcript: Transcript) -> bool:
        rows = (self._root / path).read_text("utf-8", "replace").split("\n")
        first = max(start, 1)
        shown = rows[first - 1 : first - 1 + WINDOW]
        text, places = "", []
        for number, row in enumerate(shown, first):
            text += f"{number}\t{row}\n"
            places.append(ShownLine(len(text), path, number))
        transcript.add(f"sed -n {first},{first + WINDOW - 1}p {path}", text, places)
        return bool(shown)

    def _run(self, command: Sequence[str]) -> str:
        answer = subprocess.run(
            command, cwd=self._root, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        if answer.returncode > 1:
            raise SystemExit(answer.stderr.decode("utf-8", "replace"))
        return answer.stdout.decode("utf-8", "replace")


def is_answered(question: AgentTask, transcript: Transcript) -> bool:
    """Whether every target has been shown."""
    return all(transcript.cost(target) is not None for target in question.targets)


def _last_line(question: AgentTask, match: Match) -> int:
    """Return where the definition ends that a match begins; a wrong one is not read on."""
    ends = [
        each.lines[-1]
        for each in question.targets
        if each.path == match.path and match.line in each.lines
    ]
    return max(ends, default=match.line)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _densest(matches: Sequence[Match]) -> int:
    """Return the middle of the window that holds the most matching lines."""
    lines = [match.line for match in matches]
    best = max(lines, key=lambda start: sum(start <= line < start + WINDOW for line in lines))
    return best + WINDOW // 2
