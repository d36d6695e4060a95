"""`ctx token`: tokens with a scope, for teams; the servers read them again when they change."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.client import load_settings
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import table
from ctx_core.clock import to_iso, utc_now
from ctx_core.errors import InvalidInput

if TYPE_CHECKING:
    from ctx_core.access.token import KeptToken

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_PERIOD = re.compile(r"([0-9]{1,4})([hdw])")


@define_command(
    "create",
    "Make a token and print it: it is kept as a hash and cannot be shown again. Without "
    "--collection and --project it reaches everything. Servers that run accept it at once. From "
    "the first token on, requests without one are refused.",
    examples=[
        "ctx token create --name ci --scope read",
        "ctx token create --name app-team --scope write --project app --collection app-memories",
        "ctx token create --name guest --scope read --project app --expires 30d --json",
    ],
)
@click.option("--name", default="", help="Whose it is, for `ctx token list`.")
@click.option(
    "--scope",
    type=click.Choice(["read", "write", "admin"]),
    required=True,
    help="read; write: store, change, delete, index; admin: prune, recreate, rebuild too.",
)
@click.option("--collection", "collections", multiple=True, help="A collection that it reaches.")
@click.option(
    "--project",
    "projects",
    multiple=True,
    help="A repository whose code it reaches, or a folder (name or path) whose knowledge.",
)
@click.option("--expires", metavar="TIME", help="Such as 12h, 30d, 8w, or 2027-01-31.")
def create(
    name: str,
    scope: Any,
    collections: Sequence[str],
    projects: Sequence[str],
    expires: str | None,
    as_json: bool,
) -> int:
    """Make one token."""
    from pydantic import ValidationError

    from ctx_core.access.token import new_token
    from ctx_core.access.token_file import changed_tokens

    try:
        secret, kept = new_token(name, scope, collections, projects, _moment(expires))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise InvalidInput(f"--{wrong['loc'][0]}".removesuffix("s"), wrong["msg"]) from error
    file = load_settings().tokens_path
    with changed_tokens(file) as tokens:
        tokens.append(kept)
    show({"ok": True, "token": secret, **_row(kept), "file": str(file)}, _made, as_json=as_json)
    return Exit.DONE


def _made(body: Mapping[str, Any]) -> str:
    kept = f"Keep it: it is not shown again. Revoke it: ctx token revoke {body['id']}"
    return f"{body['token']}\n\n{kept}"


@define_command(
    "list",
    "List the tokens: what they may do, and until when. The tokens themselves are not kept.",
    examples=["ctx token list", "ctx token list --json"],
)
def list_tokens(as_json: bool) -> int:
    """Print every token without its secret."""
    from ctx_core.access.token_file import read_tokens

    file = load_settings().tokens_path
    rows = [_row(each) for each in read_tokens(file)]
    show({"ok": True, "tokens": rows, "file": str(file)}, _listed, as_json=as_json)
    return Exit.DONE


def _listed(body: Mapping[str, Any]) -> str:
    if not body["tokens"]:
        return f"No tokens in {body['file']}."
    rows = [
        (
            each["id"],
            each["name"],
            each["scope"],
            ", ".join(each["collections"]) or ("-" if each["limited"] else "all"),
            ", ".join(each["projects"]) or ("-" if each["limited"] else "all"),
            ("expired " if each["expired"] else "") + (each["expires_at"] or "never"),
        )
        for each in body["tokens"]
    ]
    return table(["id", "name", "scope", "collections", "projects", "expires"], rows)


@define_command(
    "revoke",
    "Revoke tokens by their ids. Servers that run refuse them within a second, and end what they "
    "have open.",
    no="no token has this id",
    examples=["ctx token revoke 3f9a12c4", "ctx token revoke 3f9a12c4 77ab01de --json"],
)
@click.argument("ids", nargs=-1, required=True)
def revoke(ids: Sequence[str], as_json: bool) -> int:
    """Remove tokens from the file."""
    from ctx_core.access.token_file import changed_tokens

    file = load_settings().tokens_path
    with changed_tokens(file) as tokens:
        known = {each.id for each in tokens}
        tokens[:] = [each for each in tokens if each.id not in ids]
    revoked, unknown = [i for i in ids if i in known], [i for i in ids if i not in known]
    body = {"ok": not unknown, "revoked": revoked, "unknown": unknown, "file": str(file)}
    show(body, _revoked, as_json=as_json)
    return Exit.NO if unknown else Exit.DONE


def _revoked(body: Mapping[str, Any]) -> str:
    lines = [f"Revoked {each}." for each in body["revoked"]]
    return "\n".join([*lines, *(f"No token has the id {each}." for each in body["unknown"])])


def _row(token: "KeptToken") -> dict[str, Any]:
    limits = token.limits
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "limited": limits is not None,
        "collections": list(limits.collections) if limits else [],
        "projects": list(limits.projects) if limits else [],
        "created_at": to_iso(token.created_at, "seconds"),
        "expires_at": to_iso(token.expires_at, "seconds") if token.expires_at else None,
        "expired": not token.is_valid(utc_now()),
    }


def _moment(given: str | None) -> datetime | None:
    """Return the time that a period or a date means. Raises InvalidInput."""
    if given is None:
        return None
    if period := _PERIOD.fullmatch(given.strip()):
        return utc_now() + int(period[1]) * UNITS[period[2]]
    try:
        moment = datetime.fromisoformat(given.strip())
    except ValueError as error:
        raise InvalidInput("--expires", f"{given!r} is no time: 12h, 30d, 8w or a date") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment <= utc_now():
        raise InvalidInput("--expires", f"{given} has passed")
    return moment


command = Group(
    "token",
    ["ctx token create --name ci --scope read", "ctx token list", "ctx token revoke 3f9a12c4"],
    commands=[create, list_tokens, revoke],
    help=COMMANDS["token"],
)
