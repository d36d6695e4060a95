"""Settings of earlier versions, and the value that now holds; a start names those still set."""

from collections.abc import Iterable, Mapping

# The end of "CTX_X is no longer a setting: …".
REMOVED: Mapping[str, str] = {
    "CTX_MIN_FREE_MB": "the embedded Qdrant writes while 64 MB of its disk are free",
    "CHUNK_SIZE": "texts longer than 1500 characters are embedded in chunks",
    "CHUNK_OVERLAP": "neighbouring chunks share 150 characters",
    "MAX_TOTAL_SIZE_MB": "the images of an entry may have ten times MAX_IMAGE_SIZE_MB",
    "SUMMARY_MIN_CONTENT_LENGTH": "texts of 300 characters or more are summarised",
    "MICRO_CHUNK_TOKENS": "a window has 16 words",
    "MICRO_CHUNK_STRIDE": "a window begins every 8 words",
}


def ignored(names: Iterable[str]) -> list[str]:
    """Return a sentence for each name that was a setting once."""
    return [removal(name) + "; it was ignored" for name in REMOVED if name in set(names)]


def removal(name: str) -> str:
    """Say that a name is no setting any more, with the value that holds instead."""
    return f"{name} is no longer a setting: {REMOVED[name]}"
