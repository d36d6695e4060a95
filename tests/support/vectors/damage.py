"""Damages files of the embedded store as a failing disk does."""

import random
from pathlib import Path

INTACT_BYTES = 64  # at the start of a page


def garble_payloads(folder: Path) -> None:
    """Overwrite the stored payloads of every collection under a folder with noise."""
    noise = random.Random(7)
    pages = list(folder.rglob("payload_storage/page_*.dat"))
    assert pages
    for page in pages:
        content = page.read_bytes()
        used = len(content.rstrip(b"\0"))
        assert used > INTACT_BYTES
        garbled = content[:INTACT_BYTES] + noise.randbytes(used - INTACT_BYTES)
        page.write_bytes(garbled + content[used:])
