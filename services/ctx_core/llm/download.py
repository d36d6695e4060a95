"""Fetches named GGUF files from their public hub: resumable, checked by hash."""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from ctx_core.errors import ModelUnavailable
from ctx_core.llm.model_files import SUFFIX
from ctx_core.settings.serving import LOOPBACK_NAMES

PART = ".part"  # ends the name of a file that is not whole yet
SECONDS = 30.0  # without a byte
MAX_REDIRECTS = 5
# Instruct models for code, in four bits: small enough for a laptop's processor.
MODELS: Mapping[str, str] = {
    f"qwen2.5-coder-{size}": (
        f"Qwen/Qwen2.5-Coder-{size.upper()}-Instruct-GGUF/resolve/main/"
        f"qwen2.5-coder-{size}-instruct-q4_k_m.gguf"
    )
    for size in ("0.5b", "1.5b", "3b")
}
_SHA256 = re.compile(r'^(?:W/)?"?([0-9a-f]{64})"?$')

Progress = Callable[[int, int | None], None]
"""Takes the bytes that are there, and how many there will be."""


def pull(hub: str, name: str, folder: Path, progress: Progress) -> Path:
    """Fetch a named model into a folder, from where an earlier try stopped. Blocks.

    The hub announces the SHA-256 of the file, and the file must have it. Raises ModelUnavailable.
    """
    if name not in MODELS:
        raise ModelUnavailable(f"no model {name!r}; there are: {', '.join(MODELS)}")
    whole = folder / f"{name}{SUFFIX}"
    if whole.is_file():
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    part = whole.with_suffix(SUFFIX + PART)
    url = f"{hub.rstrip('/')}/{MODELS[name]}"
    uses_proxy = urlsplit(hub).hostname not in LOOPBACK_NAMES
    try:
        with httpx.Client(timeout=SECONDS, trust_env=uses_proxy) as http:
            digest = _announced(http, url)
            _fetch(http, url, part, progress)
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise ModelUnavailable(
            f"{url} cannot be fetched ({reason}): run the same command again, which goes on from "
            "where it stopped"
        ) from error
    if _sha256(part) != digest:
        part.unlink()
        raise ModelUnavailable(
            f"{url} is not the file that the hub announces (its SHA-256 differs): it was removed; "
            "run the same command again"
        )
    return part.rename(whole)


def _announced(http: httpx.Client, url: str) -> str:
    """Return the SHA-256 that the hub announces. Raises ModelUnavailable where it does not."""
    for _ in range(MAX_REDIRECTS):
        response = http.head(url)
        for header in ("x-linked-etag", "etag"):
            if found := _SHA256.match(response.headers.get(header, "")):
                return found[1]
        if not response.is_redirect:
            response.raise_for_status()
            break
        url = str(response.url.join(response.headers["location"]))
    raise ModelUnavailable(f"{url}: the hub announces no SHA-256, so the file cannot be checked")


def _fetch(http: httpx.Client, url: str, part: Path, progress: Progress) -> None:
    """Append the missing bytes to the file; one that the server cannot resume begins anew."""
    have = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with http.stream("GET", url, headers=headers, follow_redirects=True) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # it is all there
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        done = have if resumed else 0
        length = response.headers.get("content-length")
        total = done + int(length) if length else None
        with part.open("ab" if resumed else "wb") as file:
            for data in response.iter_raw():
                file.write(data)
                done += len(data)
                progress(done, total)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
