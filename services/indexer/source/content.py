"""The content of a file: its hash, its encoding, and whether it is text at all."""

import codecs
import hashlib

SNIFFED_BYTES = 8_192  # where git too looks for a NUL byte
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def blob_of(content: bytes) -> str:
    """The hash git gives this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:SNIFFED_BYTES] and not content.startswith(_UTF16)


def decode(content: bytes) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else Latin-1; never fails."""
    if content.startswith(_UTF16):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
