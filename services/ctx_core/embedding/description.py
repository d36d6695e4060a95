"""The description of an ONNX model: the model.json of its folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctx_core.errors import ModelUnavailable

DESCRIPTION = "model.json"  # static models have one too, without `kind`
FORMAT = 1
ONNX = "onnx"
POOLINGS = ("cls", "mean")


@dataclass(frozen=True)
class OnnxDescription:
    """Name and vector size of an ONNX model, and how it is asked."""

    name: str
    dims: int
    uses_cls: bool
    query_prefix: str


def is_onnx(folder: Path) -> bool:
    """Whether a folder describes an ONNX model. Raises ModelUnavailable if unreadable."""
    return (folder / DESCRIPTION).is_file() and _read(folder).get("kind") == ONNX


def read_description(folder: Path) -> OnnxDescription:
    """Read the description of an ONNX model. Raises ModelUnavailable where it is incomplete."""
    values = _read(folder)
    try:
        if values["format"] != FORMAT or values["pooling"] not in POOLINGS:
            raise ValueError(f"format {values['format']}, pooling {values['pooling']}")
        return OnnxDescription(
            str(values["name"]),
            int(values["dims"]),
            values["pooling"] == "cls",
            str(values.get("query_prefix", "")),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise ModelUnavailable(
            f"{folder / DESCRIPTION} does not describe an ONNX model ({error}); reinstall the "
            "package."
        ) from error


def _read(folder: Path) -> dict[str, Any]:
    try:
        values = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    except ValueError as error:
        raise ModelUnavailable(f"{folder / DESCRIPTION} is not JSON: {error}") from error
    return values if isinstance(values, dict) else {}
