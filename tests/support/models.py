"""A second static model, made of a shipped one: other directions, fewer dims, another name."""

import json
import shutil
from pathlib import Path

import numpy as np

from ctx_core.embedding.description import DESCRIPTION
from ctx_core.embedding.factory import SHIPPED
from ctx_core.settings.models import PROSE_MODEL

NAME = "static-second-128"
DIMS = 128
ORIGIN = SHIPPED / PROSE_MODEL


def second_model(folder: Path) -> str:
    """What EMBEDDING_MODEL says to use it."""
    made = folder / "second-model"
    made.mkdir(parents=True)
    for name in ("tokenizer.json", "scales.npy"):
        shutil.copy(ORIGIN / name, made / name)
    table = np.load(ORIGIN / "embeddings.npy")
    np.save(made / "embeddings.npy", table[:, DIMS - 1 :: -1])
    described = json.loads((ORIGIN / DESCRIPTION).read_text())
    (made / DESCRIPTION).write_text(json.dumps(described | {"name": NAME, "dims": DIMS}))
    return str(made)
