"""Entries of clients that start ctx by a name that it had in an earlier version."""

import re
from collections.abc import Iterator
from pathlib import Path

from ctx.finding import Finding
from ctx.install.clients import CLIENTS, SCOPES
from ctx.install.configuration import decoded, read_file
from ctx_core.errors import CtxError

# `python -m services.memory` in one line of words, or as a list of them in JSON and TOML.
_EARLIER = re.compile(r"-m[\"',\s]+(services\.(?:memory|indexer))\b")


def earlier_entries(home: Path, project: Path) -> Iterator[Finding]:
    """Yield a finding for each file of a client that starts a module ctx no longer has.

    `project` may be the relative path of the folder that ctx is started in, which may be gone.
    """
    files = {
        file: client.title
        for client in CLIENTS.values()
        for scope in SCOPES
        if (file := client.file(scope, home, project))
    }
    for file, title in files.items():
        try:
            found = sorted({*_EARLIER.findall(decoded(file, read_file(file)))})
        except CtxError:  # no file that the client could read either
            continue
        if found:
            modules = ", ".join(found)
            renamed = ", ".join(f"`{name.replace('services.', 'ctx_')}`" for name in found)
            detail = f"{title} starts `python -m {modules}`, which is gone: {file.absolute()}"
            yield Finding("client", "warn", detail, f"Write {renamed} there, or run ctx install.")
