"""The spec of an embedded collection, as JSON in the collection's folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctx_core.errors import StorageFailed
from ctx_core.files import replace_file
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, IndexKind

SPEC_FILE = "collection.json"


def write_spec(folder: Path, spec: CollectionSpec) -> None:
    """Replace the spec atomically; it is on the disk when this returns. Raises OSError."""
    body = {
        "dense": dict(spec.dense),
        "sparse": list(spec.sparse),
        "indexes": {field: kind.value for field, kind in spec.indexes.items()},
        "model": spec.model and asdict(spec.model),
        "purpose": spec.purpose,
        "rebuild_command": spec.rebuild_command,
        "model_setting": spec.model_setting,
    }
    replace_file(folder / SPEC_FILE, json.dumps(body, indent=2))


def read_spec(folder: Path) -> CollectionSpec:
    """Read the spec. Raises StorageFailed where it is missing or damaged."""
    try:
        body: dict[str, Any] = json.loads((folder / SPEC_FILE).read_text(encoding="utf-8"))
        return CollectionSpec(
            dense=body["dense"],
            sparse=tuple(body["sparse"]),
            indexes={field: IndexKind(kind) for field, kind in body["indexes"].items()},
            model=EmbeddingModel(**body["model"]) if body["model"] else None,
            # Earlier versions wrote none of these.
            purpose=body.get("purpose", ""),
            rebuild_command=body.get("rebuild_command", ""),
            model_setting=body.get("model_setting", ""),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageFailed(f"{folder / SPEC_FILE} cannot be read: {error}") from error
