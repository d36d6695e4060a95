"""The content of a file: its git hash, its encoding, and whether it is binary."""

import codecs
import hashlib

SNIFFED_BYTES = 8_192  # searched for a NUL byte, as git does
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def blob_of(content: bytes) -> str:
    """Return the hash that git gives this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_binary(content: bytes) -> bool:
    """Whether the first bytes hold a NUL that is not part of UTF-16."""
    return b"\0" in content[:SNIFFED_BYTES] and not content.startswith(_UTF16)


def decode(content: bytes) -> str:
    """Decode UTF-8 (with or without BOM), UTF-16 with BOM, else Latin-1; never raises."""
    if content.startswith(_UTF16):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
