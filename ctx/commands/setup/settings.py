"""`ctx settings`: every setting with its origin, and the file that holds some of them."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.exit_code import Exit
from ctx.output import show
from ctx.terminal import is_seen, table
from ctx_core.errors import InvalidInput, StorageFailed


@define_command(
    "show",
    "Show every setting: its value, and whether that comes from the environment, from ctx.toml, "
    "from a file of CTX_SECRETS_DIR or is the default. Secrets are masked.",
    no="no setting has this name",
    examples=["ctx settings show", "ctx settings show CTX_HOST", "ctx settings show --set --json"],
)
@click.argument("name", required=False)
@click.option("--set", "only_set", is_flag=True, help="Only those that are not the default.")
def show_settings(name: str | None, only_set: bool, as_json: bool) -> int:
    """Print settings with their origins."""
    from ctx_core.environment.config_file import CONFIG_FILE, data_folder
    from ctx_core.settings import described, ignored_settings

    rows = [
        each
        for each in described()
        if name in (None, each["name"]) and not (only_set and each["origin"] == "default")
    ]
    body = {"ok": True, "file": str(data_folder() / CONFIG_FILE), "settings": rows}
    body["ignored"] = ignored_settings()
    show(body, _text, as_json=as_json)
    return Exit.DONE if rows or name is None else Exit.NO


def _text(body: Mapping[str, Any]) -> str:
    rows = [(each["name"], each["value"], each["origin"]) for each in body["settings"]]
    shown = table(["setting", "value", "origin"], rows) if rows else "There is none."
    shown = "\n\n".join([shown, *body["ignored"]])
    return f"{shown}\n\nctx.toml: {body['file']}" if is_seen() else shown


@define_command(
    "set",
    "Set a setting in ctx.toml, which the servers read below the environment. It counts from their "
    "next start.",
    examples=["ctx settings set CTX_LOG_LEVEL debug", "ctx settings set RERANK_MODEL x --json"],
)
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str, as_json: bool) -> int:
    """Write one setting."""
    if not value:
        raise InvalidInput("VALUE", f"is empty; ctx settings unset {name} takes it out")
    return _write(name, value, as_json=as_json)


@define_command(
    "unset",
    "Remove a setting from ctx.toml.",
    no="ctx.toml does not set it",
    examples=["ctx settings unset CTX_LOG_LEVEL", "ctx settings unset CTX_HOST --json"],
)
@click.argument("name")
def unset(name: str, as_json: bool) -> int:
    """Remove one setting."""
    return _write(name, None, as_json=as_json)


def _write(name: str, value: str | None, *, as_json: bool) -> int:
    from ctx_core.environment.config_file import ConfigInvalid, data_folder, write_config
    from ctx_core.settings import check_filed, origins

    check_filed(name, value)
    try:
        changed = write_config(data_folder(), name, value)
    except ConfigInvalid as error:
        raise InvalidInput("ctx.toml", f"{error}; nothing was changed") from error
    except OSError as error:
        raise StorageFailed(f"ctx.toml could not be written: {error}") from error
    body = {"ok": True, "name": name, "changed": changed, "origin": origins().get(name)}
    show(body, lambda done: _written_text(done, value), as_json=as_json)
    return Exit.DONE if changed or value is not None else Exit.NO


def _written_text(body: Mapping[str, Any], value: str | None) -> str:
    if body["origin"] is None:
        return f"{body['name']} is no setting any more, and not in ctx.toml."
    if body["origin"] == "environment":
        return f"{body['name']} is written, but the environment sets it too, and goes first."
    return f"{body['name']} {'is the default again' if value is None else 'is set'}."


command = Group(
    "settings",
    ["ctx settings show --set", "ctx settings set CTX_LOG_LEVEL debug"],
    commands=[show_settings, set_setting, unset],
    help=COMMANDS["settings"],
)
