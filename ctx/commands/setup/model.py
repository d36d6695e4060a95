"""`ctx model`: fetches, lists, chooses and removes the models that write answers."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import COMMANDS, Group, define_command
from ctx.client import load_settings
from ctx.exit_code import Exit
from ctx.output import confirm, show
from ctx.terminal import table
from ctx_core.errors import InvalidInput
from ctx_core.files import replace_file
from ctx_core.settings import CHOSEN_DECODER, Settings

MEGABYTE = 1_000_000
NAME = click.argument("name")


@define_command(
    "pull",
    "Fetch a model by its name into the data folder. The hub announces the file's SHA-256, and the "
    "file must have it. A fetch that was interrupted goes on where it stopped.",
    examples=["ctx model pull qwen2.5-coder-1.5b", "ctx model pull qwen2.5-coder-3b --json"],
)
@NAME
def pull_model(name: str, as_json: bool) -> int:
    """Fetch one GGUF file."""
    from ctx_core.llm.download import MODELS, pull

    if name not in MODELS:
        raise InvalidInput("name", f"no model is called {name!r}; there are: {', '.join(MODELS)}")
    settings = load_settings()
    visible = sys.stderr.isatty() and not as_json

    def progress(done: int, total: int | None) -> None:
        if visible:
            of = f" of {total // MEGABYTE}" if total else ""
            print(f"\r\x1b[K{done // MEGABYTE}{of} MB", end="", file=sys.stderr, flush=True)

    path = pull(str(settings.model_hub), name, settings.decoders_dir, progress)
    if visible:
        print(file=sys.stderr)
    body = {"ok": True, "name": name, "path": str(path), "bytes": path.stat().st_size}
    show(body, lambda _: f"{path}\nUse it with: ctx model use {name}", as_json=as_json)
    return Exit.DONE


@define_command(
    "list",
    "List the models that can be fetched and those that are there.",
    examples=["ctx model list", "ctx model list --json"],
)
def list_models(as_json: bool) -> int:
    """List models, with the chosen one marked."""
    from ctx_core.llm.download import MODELS

    settings = load_settings()
    chosen = settings.decoder_model or settings.chosen_decoder
    sizes = _pulled(settings)
    names = list(dict.fromkeys([*MODELS, *sizes]))
    rows = [{"name": name, "bytes": sizes.get(name), "chosen": name == chosen} for name in names]
    show({"ok": True, "models": rows, "chosen": chosen}, _list_text, as_json=as_json)
    return Exit.DONE


def _list_text(body: Mapping[str, Any]) -> str:
    rows = [
        [
            each["name"],
            f"{each['bytes'] // MEGABYTE} MB" if each["bytes"] else "not fetched",
            "chosen" if each["chosen"] else "",
        ]
        for each in body["models"]
    ]
    return table(["model", "size", ""], rows)


@define_command(
    "use",
    "Choose the model that writes answers: a fetched one by its name, a path, or package:file for "
    "a file inside an installed Python package. Servers read the choice at their start; "
    "DECODER_MODEL goes before it.",
    examples=["ctx model use qwen2.5-coder-1.5b", "ctx model use ~/models/mine.gguf"],
)
@NAME
def use_model(name: str, as_json: bool) -> int:
    """Note the choice in the data folder."""
    from ctx_core.llm.model_files import find_model

    if not name:
        raise InvalidInput("name", "is empty; ctx model list shows what is there")
    settings = load_settings()
    path = find_model(settings.model_copy(update={"decoder_model": name}))
    if not path.is_file():
        raise InvalidInput("name", f"{name} is not there: ctx model pull {name}, or give a path")
    kept = name if path.stem == name or ":" in name else str(path.resolve())
    settings.decoders_dir.mkdir(parents=True, exist_ok=True)
    replace_file(settings.decoders_dir / CHOSEN_DECODER, f"{kept}\n")
    show({"ok": True, "chosen": kept}, lambda _: f"Answers use {kept}.", as_json=as_json)
    return Exit.DONE


@define_command(
    "rm",
    "Remove a fetched model from the data folder.",
    destroys=True,
    examples=["ctx model rm qwen2.5-coder-3b", "ctx model rm qwen2.5-coder-3b --yes --json"],
)
@NAME
def remove_model(name: str, yes: bool, as_json: bool) -> int:
    """Remove one file, and the choice of it."""
    settings = load_settings()
    if name not in _pulled(settings):
        raise InvalidInput("name", f"{name} was not fetched; ctx model list shows what is there")
    confirm(f"Remove {name}?", yes=yes, as_json=as_json)
    (settings.decoders_dir / f"{name}.gguf").unlink()
    if settings.chosen_decoder == name:
        (settings.decoders_dir / CHOSEN_DECODER).unlink()
    show({"ok": True, "removed": name}, lambda _: f"Removed {name}.", as_json=as_json)
    return Exit.DONE


def _pulled(settings: Settings) -> dict[str, int]:
    """Return the names and sizes of the models that were fetched."""
    found = sorted(settings.decoders_dir.glob("*.gguf"))
    return {path.stem: path.stat().st_size for path in found}


command = Group(
    "model",
    ["ctx model list", "ctx model pull qwen2.5-coder-1.5b", "ctx model use qwen2.5-coder-1.5b"],
    help=COMMANDS["model"],
    commands=[pull_model, list_models, use_model, remove_model],
)
