"""`ctx knowledge`: what each command prints, stores and shares, and that its examples work."""

import json
import logging
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from fastmcp import Client

from ctx.__main__ import main
from ctx.cli import Command, Group
from ctx.commands.memory.knowledge import command as knowledge_command
from scripts.bench.fixtures.clones import bare, identify
from scripts.bench.fixtures.repositories import Repository
from tests.support.processes import environment, run_ctx, running


@dataclass(frozen=True)
class Outcome:
    """The exit code of a command, and what it printed."""

    code: int
    out: str
    error: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A clone of a bare repository, with two files that examples read."""
    remote = bare(tmp_path)
    root = tmp_path / "shop"
    subprocess.run(["git", "clone", "-q", str(remote), str(root)], check=True)
    identify(root)
    made = Repository(root)
    made.write("docs/deployment.md", "# Deployment\n\nBy hand.\n")
    made.write("docs/style.md", "Short lines.\n")
    made.write("AGENTS.md", "# Shop\n\n## Testing\n\nRun it all.\n\n## Release\n\nTag it.\n")
    made.write("CLAUDE.md", "Be brief.\n\n## Queue\n\nOne worker reads it.\n")
    return made


@pytest.fixture
def run(
    shop: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    """Runs `ctx knowledge …` in a folder, by default the shop; nothing of logging is left."""
    for name, value in environment(tmp_path / "data", HOME=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def run_command(*arguments: str, cwd: Path = shop.root) -> Outcome:
        monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = main(["knowledge", *arguments])
        return Outcome(code, *capsys.readouterr())

    yield run_command
    root.handlers[:], root.level = before


# --- examples --------------------------------------------------------------------------------

# Every example of the help, in an order in which each has what it needs; STEPS are taken between.
ORDER = """
ctx knowledge list
ctx knowledge add architecture --text 'Two servers over one engine.'
ctx knowledge add deployment --file docs/deployment.md
ctx knowledge add my-notes --text 'Try the other queue.' --scope private
ctx knowledge search how are servers built
ctx knowledge search engine --json
ctx knowledge get architecture
ctx knowledge decision add 'Use PostgreSQL' --context 'We need transactions.'
ctx knowledge decision add 'Use PostgreSQL'
ctx knowledge decision add 'Keep SQLite' --decision 'For one machine.' --scope private
ctx knowledge get decisions.1 --json
ctx knowledge list --type decision --json
ctx knowledge decision list
ctx knowledge decision list --json
ctx knowledge decision show 1
ctx knowledge decision show postgresql --json
ctx knowledge convention add git --text 'Feature branches; no force-push to main.'
ctx knowledge convention add style --file docs/style.md --scope private
ctx knowledge convention list
ctx knowledge convention list --json
ctx knowledge convention show git
ctx knowledge convention show git --json
ctx knowledge convention rm style --yes
ctx knowledge convention rm git --yes --json
ctx knowledge rm my-notes --yes
ctx knowledge rm deployment --yes --json
ctx knowledge sync status
ctx knowledge sync status --json
ctx knowledge sync push
ctx knowledge sync push --message 'Describe the queue'
ctx knowledge sync pull
[conflict]
ctx knowledge sync resolve
ctx knowledge sync resolve knowledge/architecture.md
ctx knowledge sync resolve knowledge/architecture.md --take theirs
ctx knowledge sync resolve --finish
[skill]
ctx knowledge skill list
ctx knowledge skill list --json
ctx knowledge skill show deploy
ctx knowledge skill show deploy --json
ctx knowledge skill review
ctx knowledge skill review --json
ctx knowledge skill proposals
ctx knowledge skill proposals deploy --status pending --json
ctx knowledge skill apply-proposal 1f0c7a52
[proposal]
ctx knowledge skill apply-proposal 1f0c7a52 --reject
ctx knowledge export team.ctxbundle
ctx knowledge export ~/all.ctxbundle --private
ctx knowledge import team.ctxbundle
ctx knowledge import AGENTS.md
ctx knowledge import AGENTS.md --accept testing --accept release
ctx knowledge import CLAUDE.md --type knowledge --accept-all
"""
CONFLICT = "ctx knowledge sync pull --strategy agent"


def examples(group: click.Group) -> Iterator[str]:
    assert isinstance(group, Group)
    yield from group.examples
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from examples(command)
        else:
            assert isinstance(command, Command)
            yield from command.examples


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_example_works(run: Run, shop: Repository, tmp_path: Path) -> None:
    steps = {
        "[conflict]": lambda: make_conflict(run, tmp_path),
        "[skill]": lambda: make_skill(shop),
        "[proposal]": lambda: propose(shop),
    }
    lines = ORDER.strip().splitlines()
    assert {line for line in lines if line not in steps} | {CONFLICT} == set(
        examples(knowledge_command)
    )
    for line in lines:
        if line in steps:
            steps[line]()
            continue
        words = [word.replace("~", str(tmp_path)) for word in shlex.split(line)]
        done = run(*words[2:])
        assert done.code == 0, (line, done)
        assert done.out, line


def make_conflict(run: Run, tmp_path: Path) -> None:
    """Another clone and the shop change one entry; the example of a pull finds it."""
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(tmp_path / "remote.git"), str(other)], check=True)
    identify(other)
    assert run("add", "architecture", "--text", "Theirs.", cwd=other).code == 0
    assert run("sync", "push", cwd=other).code == 0
    assert run("add", "architecture", "--text", "Ours.").code == 0
    found = run(*CONFLICT.split()[2:])
    assert (found.code, "resolve" in found.out) == (1, True)


def make_skill(shop: Repository) -> None:
    home = ".context-teleport/skills/deploy"
    shop.write(f"{home}/SKILL.md", "---\nname: deploy\ndescription: d\n---\n\nDo it.\n")
    ratings = [{"id": str(n), "rating": 2, "comment": "unclear"} for n in range(2)]
    shop.write(f"{home}/.feedback.ndjson", "".join(f"{json.dumps(each)}\n" for each in ratings))
    propose(shop)


def propose(shop: Repository) -> None:
    proposal = {
        "id": "1f0c7a52-0000-4000-8000-000000000000",
        "skill_name": "deploy",
        "agent": "mcp:test",
        "rationale": "clearer",
        "proposed_content": "---\nname: deploy\ndescription: d\n---\n\nDo it well.\n",
        "diff_summary": "+1/-1 lines",
        "status": "pending",
        "created_at": "2026-01-01T00:00:00+00:00",
    }
    home = ".context-teleport/skills/deploy/.proposals"
    shop.write(f"{home}/{proposal['id']}.json", json.dumps(proposal))


# --- what commands do ------------------------------------------------------------------------


def test_entries_are_written_read_listed_and_removed(run: Run, shop: Repository) -> None:
    assert run("add", "Tech Stack!", "--text", "# Stack\n\nPython.").out == "tech-stack: ok\n"
    assert run("add", "mine", "--text", "secret plan", "--scope", "private").code == 0
    assert run("get", "tech-stack").out == "# Stack\n\nPython.\n"
    assert run("get", "tech-stack", "--json").json == {
        "ok": True,
        "result": "# Stack\n\nPython.",
    }
    listed = run("list", "--json").json
    assert listed["project"] == "shop"
    assert [(e["type"], e["key"], e["scope"], e["title"]) for e in listed["entries"]] == [
        ("knowledge", "mine", "private", "secret plan"),
        ("knowledge", "tech-stack", "public", "Stack"),
    ]
    assert listed["entries"][1]["author"].startswith("cli:")
    written = [path.name for path in (shop.root / ".context-teleport/knowledge").glob("*.md")]
    assert written == ["tech-stack.md"]
    asked = run("rm", "tech-stack")
    assert (asked.code, "--yes" in asked.error) == (4, True)
    assert run("rm", "tech-stack", "--yes").code == 0
    gone = run("rm", "tech-stack", "--yes", "--json")
    assert (gone.code, gone.json) == (
        1,
        {"ok": True, "status": "not_found", "key": "tech-stack"},
    )
    missing = run("get", "tech-stack", "--json")
    assert missing.code == 1
    assert json.loads(missing.error)["error_code"] == "ENTRY_NOT_FOUND"


def test_text_comes_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe"))
    assert run("add", "piped", "--file", "-").code == 0
    assert run("get", "piped").out == "from a pipe\n"


def test_a_user_without_a_name_writes_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54_321)
    assert run("add", "a", "--text", "text").code == 0
    [entry] = run("list", "--json").json["entries"]
    assert entry["author"] == "cli:unknown"


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "key"),
        ("add", "key", "--text", "a", "--file", "b"),
        ("add", "key", "--file", "missing.md"),
        ("add", "key", "--text", "a", "--scope", "ephemeral"),
        ("add", "///", "--text", "a"),
        ("add", "key", "--text", "password = 'hunter2-Xk29fjq81'"),
        ("sync", "resolve", "--take", "ours"),
        ("sync", "resolve", "--finish", "--abort"),
        ("import", "AGENTS.md", "--replace"),
        ("import", "team.ctxbundle", "--accept", "a"),
        ("import", "missing.ctxbundle"),
    ],
)
def test_wrong_use_is_refused_and_changes_nothing(
    run: Run, shop: Repository, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert done.error
    assert not (shop.root / ".context-teleport").exists()


def test_read_only_mode_holds_for_every_write(
    run: Run, shop: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_skill(shop)
    assert run("export", "team.ctxbundle").code == 0
    monkeypatch.setenv("CTX_READ_ONLY", "true")
    for arguments in (
        ("add", "key", "--text", "a"),
        ("skill", "apply-proposal", "1f0c7a52"),
        ("import", "team.ctxbundle"),
        ("import", "AGENTS.md", "--accept-all"),
        ("sync", "push"),
    ):
        refused = run(*arguments, "--json")
        assert refused.code == 4
        assert json.loads(refused.error)["error_code"] == "NOT_PERMITTED"
    assert run("list").code == 0
    assert run("import", "AGENTS.md").code == 0


def test_without_a_project_it_says_so(run: Run, tmp_path: Path) -> None:
    done = run("list", cwd=tmp_path)
    assert done.code == 2
    assert "Not inside a project" in done.error


def test_nothing_is_pushed_unasked(run: Run, shop: Repository) -> None:
    assert run("add", "a", "--text", "text").code == 0
    assert shop.git("log", "--format=%s") == "first"
    status = run("sync", "status", "--json").json
    assert status["remote"] == "origin/main"
    assert "knowledge/a.md" in status["to_commit"]
    assert "knowledge/a.md" in status["to_push"]
    assert run("sync", "push").code == 0
    after = run("sync", "status", "--json").json
    assert (after["to_commit"], after["to_push"], after["to_pull"]) == ([], [], [])


def test_conflicts_are_resolved_from_a_file(run: Run, shop: Repository, tmp_path: Path) -> None:
    assert run("add", "architecture", "--text", "Base.").code == 0
    assert run("sync", "push").code == 0
    make_conflict(run, tmp_path)
    assert run("sync", "status", "--json").json["conflicts"] == [
        ".context-teleport/knowledge/architecture.md"
    ]
    shown = run("sync", "resolve", "knowledge/architecture.md").out
    assert "-Ours." in shown
    assert "+Theirs." in shown
    (tmp_path / "both.md").write_text("Ours and theirs.\n")
    resolved = run("sync", "resolve", "knowledge/architecture.md", "--with", "../both.md")
    assert resolved.out.strip().endswith("resolved, 0 left")
    assert run("sync", "resolve").out.startswith("resolved: ")
    assert run("sync", "resolve", "--finish").out.startswith("merged ")
    assert run("sync", "push").out.startswith("pushed ")
    assert run("get", "architecture").out == "Ours and theirs.\n"
    aborted = run("sync", "resolve", "--abort")
    assert (aborted.code, "No pending conflicts" in aborted.error) == (1, True)


def test_an_accepted_proposal_becomes_the_skill(run: Run, shop: Repository) -> None:
    make_skill(shop)
    assert "NEEDS ATTENTION" in run("skill", "review").out
    assert "unclear" in run("skill", "review").out
    assert run("skill", "proposals").out.startswith("1f0c7a52  pending")
    assert run("skill", "apply-proposal", "1f0c7a52").out == "deploy: accepted\n"
    assert run("skill", "show", "deploy").out.endswith("Do it well.\n")
    again = run("skill", "apply-proposal", "1f0c7a52")
    assert (again.code, "accepted already" in again.error) == (2, True)
    assert run("skill", "apply-proposal", "../../x").code == 1


def test_instruction_files_are_proposed_and_written_when_accepted(
    run: Run, shop: Repository
) -> None:
    proposed = run("import", "AGENTS.md", "--json").json
    assert [(p["key"], p["problem"]) for p in proposed["proposals"]] == [
        ("testing", ""),
        ("release", ""),
    ]
    assert not (shop.root / ".context-teleport").exists()
    assert (
        run("import", "AGENTS.md", "--accept", "release").out == "release: stored as convention\n"
    )
    assert run("convention", "show", "release").out == "## Release\n\nTag it.\n"
    again = run("import", "AGENTS.md", "--accept", "release")
    assert (again.code, "exists already" in again.error) == (2, True)
    assert run("import", "AGENTS.md", "--accept", "nothing").code == 1
    stored = run("import", "CLAUDE.md", "--type", "knowledge", "--accept-all", "--json").json
    assert stored["stored"] == ["overview", "queue"]


@pytest.mark.slow
async def test_a_running_server_is_asked_for_a_search_and_sees_what_commands_write(
    shop: Repository, tmp_path: Path
) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(shop.root))
    with running(env, "-m", "ctx_memory") as server:
        assert run_ctx(env, "knowledge", "add", "queue", "--text", "One worker.").returncode == 0
        hidden = ("knowledge", "add", "mine", "--text", "Two workers.", "--scope", "private")
        assert run_ctx(env, *hidden).returncode == 0
        async with Client(server.memory_http) as client:
            found = await client.call_tool("context_get", {"dotpath": "knowledge"})
        assert found.structured_content == {
            "result": {"queue": "One worker.", "mine": "Two workers."}
        }
        searched = run_ctx(env, "knowledge", "search", "worker", "--json")
        hits = json.loads(searched.stdout)["result"]
        assert {hit["key"] for hit in hits} == {"queue", "mine"}
        assert not any("degraded" in hit for hit in hits)
        elsewhere = Repository.create(tmp_path / "elsewhere")
        elsewhere.write(".context-teleport/knowledge/far.md", "A worker far away.\n")
        env |= {"CTX_WORKSPACE": str(elsewhere.root)}
        searched = run_ctx(env, "knowledge", "search", "worker", "--json")
        [hit] = json.loads(searched.stdout)["result"]
        assert (hit["key"], "words only" in hit["degraded"]) == ("far", True)
        assert "words only" in searched.stderr
