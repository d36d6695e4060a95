"""A knowledge folder as another program of the same layout leaves it, written by hand."""

import json
from pathlib import Path

FILES: dict[str, str] = {
    "manifest.json": json.dumps(
        {
            "schema_version": "0.4.0",
            "project": {"name": "Old Shop", "id": "11111111-1111-4111-8111-111111111111",
                        "repo_url": "https://example.org/shop"},
            "adapters": {"claude-code": {"enabled": True}},
            "team": {"members": [{"name": "ann"}]},
            "created_at": "2025-01-01T00:00:00+00:00",
            "updated_at": "2025-05-10T14:30:00+00:00",
        },
        indent=2,
    ),
    "knowledge/architecture.md": "# Architecture\n\nWe use gRPC between services.\n",
    "knowledge/Mixed_Case.md": "kept under its name\n",
    "knowledge/secret-plan.md": "only on this machine\n",
    "knowledge/.meta.json": json.dumps({"architecture.md": {"author": "mcp:cursor"}}),
    "knowledge/.scope.json": json.dumps({"secret-plan.md": "private"}),
    "knowledge/decisions/0001-use-postgresql.md": (
        "# 0001 - Use PostgreSQL\n\n**Date**: 2025-02-03\n**Status**: accepted\n"
        "**Author**: mcp:claude-code\n\n## Context\n\nNeed ACID.\n\n## Decision\n\nPostgreSQL 16.\n"
        "\n## Consequences\n\n(no consequences noted)\n"
    ),
    "knowledge/decisions/0002-old-idea.md": (
        "# 0002 - Old idea\n\n**Date**: 2025-02-04\n**Status**: superseded\n\n## Context\n\nx\n"
    ),
    "conventions/git.md": "Always use feature branches.\n",
    "skills/deploy/SKILL.md": (
        "---\nname: Deploy\ndescription: Ship it\nuser-invocable: true\n"
        'tags: ["ops", "ci"]\n---\n\n## Steps\n\n1. Run\n'
    ),
    "skills/deploy/.usage.ndjson": '{"id": "u1", "agent": "x", "timestamp": "2025-05-01T00:00"}\n',
    "skills/deploy/.feedback.ndjson": (
        '{"id": "f1", "rating": 2, "comment": "slow", "agent": "x"}\n'
        '{"id": "f2", "rating": 3, "comment": "", "agent": "y"}\n{"torn'
    ),
    "skills/deploy/.proposals/p1.json": json.dumps(
        {"id": "p1", "skill_name": "Deploy", "agent": "x", "status": "pending",
         "diff_summary": "+1/-1 lines", "rationale": "why", "proposed_content": "new",
         "created_at": "2025-05-02T00:00:00+00:00"}
    ),
    "skills/hidden/SKILL.md": "---\nname: hidden\ndescription: d\n---\n\nquiet\n",
    "skills/.scope.json": json.dumps({"hidden/SKILL.md": "private"}),
    "state/active.json": json.dumps({"current_task": "old task", "blockers": ["b"]}),
    "state/roadmap.json": json.dumps({"items": []}),
    "preferences/team.json": json.dumps({"values": {"tone": "plain"}}),
    "preferences/user.json": json.dumps({"values": {"editor": "vi"}}),
    "history/sessions.ndjson": (
        '{"id": "s1", "agent": "claude-code", "user": "ann", "machine": "m", '
        '"started": "2025-05-01T10:00:00", "ended": "2025-05-01T11:00:00", "summary": "began", '
        '"knowledge_added": ["architecture"], "decisions_added": ["1"], "skills_used": []}\n'
    ),
    ".gitignore": (
        "state/active.json\npreferences/user.json\n.pending_conflicts.json\n"
        "knowledge/secret-plan.md\n"
    ),
    "notes.txt": "a file that no program knows\n",
}  # fmt: skip
LOCAL = {"state/active.json", "preferences/user.json", "knowledge/secret-plan.md",
         "skills/hidden/SKILL.md"}  # fmt: skip


def write_old_folder(root: Path) -> Path:
    """Write the folder into a project; return it."""
    folder = root / ".context-teleport"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def read_folder(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
