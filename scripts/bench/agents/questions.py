"""The questions of the agent benchmark, each with the lines that answer it.

Questions about code and names come with the annotated queries; look-ups, callers and subclasses
are drawn from what other parsers than ours find in a repository.
"""

import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.agents.gold import ENDINGS, Call, Definition, Sources, read_sources

SEED = 13
LEAST, MOST = 2, 30  # call sites or subclasses of a question: more are no answer to read
LINES_TO_READ = 10  # of a definition asked for by name; of a question's span one, as it is scored
HEAD_LINES = 4  # of a class, at most: its bases may stand below its name
MIN_NAME = 5  # letters of a drawn name: `get` and `run` are every second word


@dataclass(frozen=True)
class Target:
    """Lines of a file that must be seen, `needed` of them; no lines: anything of the file.

    With `around` the definition that holds them must be known too, by its name or its line.
    """

    path: str
    lines: tuple[int, ...] = ()
    needed: int = 1
    around: str | None = None
    around_line: int | None = None


@dataclass(frozen=True)
class AgentTask:
    """A question of one family about one repository. `text` is a sentence, or a name."""

    family: str
    repo: str
    language: str
    text: str
    targets: tuple[Target, ...]


# --- annotated -----------------------------------------------------------------------------


def annotated(
    repo: str, language: str, queries: Iterable[Mapping[str, Any]], paths: Sequence[str]
) -> list[AgentTask]:
    """Build questions from annotated queries and their primary targets."""
    questions = []
    for query in queries:
        family = "name" if query["cat"] == "symbol" else "question"
        lines = LINES_TO_READ if family == "name" else 1
        found = (_annotated_target(each, paths, lines) for each in query["rel"])
        targets = tuple(filter(None, found))
        if not targets:
            continue
        spans = all(target.lines for target in targets)
        family += ", lines" if spans else ", file"
        questions.append(AgentTask(family, repo, language, query["q"], targets))
    return questions


def _annotated_target(target: Any, paths: Sequence[str], needed: int) -> Target | None:
    """Return the target; None where the file is not in the folder that is searched."""
    written = target if isinstance(target, str) else target["path"]
    path = next((each for each in paths if each == written or each.endswith(f"/{written}")), None)
    if path is None:
        return None
    if isinstance(target, str) or "start" not in target:
        return Target(path)
    lines = tuple(range(target["start"], target["end"] + 1))
    return Target(path, lines, min(needed, len(lines)))


# --- drawn ---------------------------------------------------------------------------------


def drawn(
    repo: str, language: str, root: Path, paths: Sequence[str], counts: Mapping[str, int]
) -> list[AgentTask]:
    """Draw questions: `counts` says how many of each family."""
    sources = read_sources(root, paths, language)
    makers = {"look-up": look_ups, "callers": callers, "subclasses": subclasses}
    questions: list[AgentTask] = []
    for family, count in counts.items():
        made = makers[family](sources)
        chosen = random.Random(SEED).sample(sorted(made), min(count, len(made)))
        questions += [AgentTask(family, repo, language, name, made[name]) for name in chosen]
    return questions


def look_ups(sources: Sources) -> dict[str, tuple[Target, ...]]:
    """Return the definitions whose qualified name the repository has once, with all their lines."""
    names = Counter(each.qualified for each in sources.definitions)
    return {
        each.qualified: (_whole(each),)
        for each in sources.definitions
        if names[each.qualified] == 1 and _is_plain(each.name)
    }


def _whole(definition: Definition) -> Target:
    lines = tuple(range(definition.start, (definition.end or definition.line) + 1))
    return Target(definition.path, lines, len(lines))


def callers(sources: Sources) -> dict[str, tuple[Target, ...]]:
    """Return names that are defined once, with every call and the definition around it."""
    defined = Counter(each.name for each in sources.definitions)
    calls: dict[str, dict[tuple[str, int], Call]] = defaultdict(dict)
    for call in sources.calls:
        calls[call.name].setdefault((call.path, call.line), call)
    return {
        name: tuple(_call_target(call) for call in found.values())
        for name, found in calls.items()
        if defined[name] == 1 and LEAST <= len(found) <= MOST and _is_plain(name)
    }


def _call_target(call: Call) -> Target:
    return Target(call.path, (call.line,), 1, call.around, call.around_line)


def subclasses(sources: Sources) -> dict[str, tuple[Target, ...]]:
    """Return classes that are defined once, with the head and name of each direct subclass."""
    defined = Counter(each.name for each in sources.definitions)
    below: dict[str, list[Target]] = defaultdict(list)
    for each in sources.definitions:
        for base in each.bases:
            head = tuple(range(each.line, each.line + HEAD_LINES))
            below[base].append(Target(each.path, head, 1, each.qualified, each.line))
    return {
        name: tuple(found)
        for name, found in below.items()
        if defined[name] == 1 and LEAST <= len(found) <= MOST and _is_plain(name)
    }


def _is_plain(name: str) -> bool:
    return name.isidentifier() and len(name) >= MIN_NAME and not name.startswith("__")


def listed_files(root: Path, subdir: str, language: str | None = None) -> list[str]:
    """List the files that git tracks under a folder, of one language or all."""
    command = ["git", "ls-files", "--", subdir or "."]
    paths = subprocess.check_output(command, cwd=root, text=True).splitlines()
    ending = f".{ENDINGS[language]}" if language else ""
    return [path for path in paths if path.endswith(ending) and (root / path).is_file()]


def load_annotated(folder: Path) -> list[tuple[dict[str, str], list[dict[str, Any]]]]:
    """Return the repositories of the annotated queries, and each one's queries."""
    entries = json.loads((folder / "repos.json").read_text())
    return [
        (entry, json.loads((folder / f"{entry['name']}.json").read_text())) for entry in entries
    ]
