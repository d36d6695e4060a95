"""Repositories that try to run a command, to lead outside, or to block."""

import os
import shutil
from pathlib import Path

from scripts.bench.attacks.attack import Outcome, ServerAttack, Target
from scripts.bench.fixtures.repositories import Repository

OUTSIDE_WORD = "quicksilver_outside"
PROGRAMS = {
    "core.repositoryformatversion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.url": "/nowhere",
    "remote.origin.promisor": "true",
    "remote.origin.uploadpack": "{script}",
    "core.fsmonitor": "{script}",
    "core.sshCommand": "{script}",
    "core.hooksPath": "{folder}",
    "core.pager": "{script}",
    "filter.evil.clean": "{script}",
    "filter.evil.process": "{script}",
    "diff.evil.textconv": "{script}",
    "diff.external": "{script}",
    "credential.helper": "!{script}",
}
HOOKS = ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout")


def repository(target: Target, name: str) -> Repository:
    """Create a repository in the workspace with one ordinary file."""
    made = Repository.create(target.workspace / name)
    made.write("a.py", f"def honest_{name}(value):\n    return value\n")
    made.commit()
    return made


async def commands(target: Target, outcome: Outcome) -> None:
    """Each setting of git that names a program, alone, in a repository without objects."""
    for number, (key, value) in enumerate(PROGRAMS.items()):
        folder = target.outside / f"programs{number}"
        folder.mkdir()
        ran = folder / "ran"
        script = folder / "script.sh"
        for file in (script, *(folder / hook for hook in HOOKS)):
            file.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
            file.chmod(0o755)
        name = f"programs{number}"
        made = repository(target, name)
        made.write(".gitattributes", "*.py filter=evil diff=evil\n")
        made.commit()
        if key.startswith(("remote.", "extensions.")):
            for other in ("core.repositoryformatversion", "extensions.partialClone"):
                made.git("config", other, PROGRAMS[other])
        made.git("config", key, value.format(script=script, folder=folder))
        if "promisor" in key or "uploadpack" in key:
            made.git("config", "remote.origin.promisor", "true")
            made.git("config", "remote.origin.uploadpack", str(script))
            shutil.rmtree(made.root / ".git/objects")
            (made.root / ".git/objects").mkdir()
        made.write("b.py", "def later(value):\n    return value\n")
        await target.index(name)
        outcome.note(key, not ran.exists())


async def pipes(target: Target, outcome: Outcome) -> None:
    """Pipes where ignore files, the state and sources are read."""
    for number, path in enumerate(
        (
            ".gitignore",
            "inside/.gitignore",
            ".ctxignore",
            ".codebase/state.json",
            ".git/info/exclude",
            "pipe.py",
        )
    ):
        made = repository(target, f"pipes{number}")
        place = made.root / path
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        body = await target.index(f"pipes{number}")
        outcome.note(path, bool(body.get("ok")))
    listed = await target.call(target.server.indexer_http, "list_workspaces", {})
    outcome.note("list_workspaces", bool(listed.get("ok")))


async def links(target: Target, outcome: Outcome) -> None:
    """Links that lead outside: files, folders, submodules, ignore files, the state."""
    secret = target.outside / "linked"
    secret.mkdir()
    (secret / "secret.py").write_text(f"{OUTSIDE_WORD} = 1\n")
    other = Repository(secret)
    other.git("init", "-q")
    other.commit()
    commit = other.git("rev-parse", "HEAD")
    made = repository(target, "links")
    made.write("lib/secret.py", "INSIDE = 1\n")
    made.commit()
    shutil.rmtree(made.root / "lib")
    (made.root / "lib").symlink_to(secret)
    (made.root / "file.py").symlink_to(secret / "secret.py")
    (made.root / "link").symlink_to(secret)
    made.git("update-index", "--add", "--cacheinfo", f"160000,{commit},link")
    (made.root / ".ctxignore").symlink_to("/dev/zero")
    body = await target.index("links")
    outcome.note("an ignore file without end", bool(body.get("ok")))
    found = await target.search(OUTSIDE_WORD)
    outcome.note("outside text in search", f"{OUTSIDE_WORD} = 1" not in found)
    outcome.note("escape by path", not (await target.index("../outside")).get("ok"))


async def state_folder(target: Target, outcome: Outcome) -> None:
    """A `.codebase` that is a link makes nobody write outside."""
    folder = target.outside / "state"
    folder.mkdir()
    (folder / "state.json").write_text("{}")
    made = repository(target, "state")
    (made.root / ".codebase").symlink_to(folder)
    await target.index("state")
    outcome.note("state.json kept", (folder / "state.json").read_text() == "{}")
    outcome.note("no .gitignore", not (folder / ".gitignore").exists())


async def patterns(target: Target, outcome: Outcome) -> None:
    """Globs and expressions that take for ever where matching backtracks."""
    made = repository(target, "patterns")
    deep = Path(*["d"] * 40)
    made.write(f"{deep}/x.py", "value = 1\n")
    made.write(".ctxignore", "**/" * 300 + "x\n" + "*a" * 60 + "b\n")
    outcome.note("ignore file", bool((await target.index("patterns")).get("ok")))
    for pattern in ("**/" * 200 + "z", "*a" * 80 + "b", "{a,b}" * 30, "[" * 500, "(a+)+$" * 20):
        arguments = {"query": "value", "path_glob": pattern}
        body = await target.call(target.server.indexer_http, "repo_search", arguments)
        outcome.note(pattern[:20], body.get("error_code") != "INTERNAL_ERROR")
        expression = {"pattern": pattern, "regex": True}
        body = await target.call(target.server.indexer_http, "exact_search", expression)
        outcome.note(f"regex {pattern[:20]}", body.get("error_code") != "INTERNAL_ERROR")


ATTACKS = [
    ServerAttack("programs that git's configuration names", commands),
    ServerAttack("pipes in place of files", pipes),
    ServerAttack("links that lead outside", links),
    ServerAttack("a state folder that is a link", state_folder),
    ServerAttack("patterns without end", patterns),
]
