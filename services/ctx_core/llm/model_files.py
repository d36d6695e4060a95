"""Where the GGUF file of a decoder lies: a path, a file of a Python package, or a pulled model."""

import importlib.util
from pathlib import Path

from ctx_core.errors import ModelUnavailable
from ctx_core.settings import Settings

SUFFIX = ".gguf"


def find_model(settings: Settings) -> Path:
    """Return the path of the GGUF file that DECODER_MODEL or `ctx model use` names.

    `package:file` is a file inside an installed Python package. Raises ModelUnavailable.
    """
    given = settings.decoder_model or settings.chosen_decoder
    if given is None:
        raise ModelUnavailable("no model is chosen: set DECODER_MODEL, or run: ctx model use NAME")
    package, separator, name = given.partition(":")
    if separator and package.isidentifier():
        return _packaged(package, name)
    pulled = settings.decoders_dir / f"{given}{SUFFIX}"
    return pulled if pulled.is_file() else Path(given).expanduser()


def _packaged(package: str, name: str) -> Path:
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    found = [Path(place) / name for place in places or () if (Path(place) / name).is_file()]
    if not found:
        raise ModelUnavailable(
            f"DECODER_MODEL={package}:{name}: no installed package has this file"
        )
    return found[0]
