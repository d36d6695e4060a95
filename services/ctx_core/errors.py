"""Every error that ctx raises on purpose, and the one body that answers make of it.

CtxError                    error_code
├── InvalidInput            VALIDATION_ERROR      the caller's arguments are wrong
│   └── EntryNotFound       ENTRY_NOT_FOUND       no entry has this id
├── KnowledgeRefused        VALIDATION_ERROR      a call of the knowledge tools that is wrong
│   └── KnowledgeNotFound   ENTRY_NOT_FOUND       no entry, decision or skill has this key
├── RequestInvalid          VALIDATION_ERROR      the arguments do not make a request together
├── CollectionNotFound      COLLECTION_NOT_FOUND
├── ModelMismatch           MODEL_MISMATCH        the collection was built with another model
├── IndexingFailed          INDEXING_ERROR
│   └── RepoInUse           INDEXING_ERROR        another process writes the repository
├── SearchFailed            SEARCH_ERROR
├── DecoderFailed           DECODER_ERROR
├── TimedOut                TIMEOUT_ERROR
├── RateLimited             RATE_LIMIT_ERROR
├── NotPermitted            NOT_PERMITTED         no token, or a tool outside the chosen toolsets
├── StorageFailed           STORAGE_ERROR         Qdrant or SQL failed
│   └── FolderInUse         DATA_FOLDER_IN_USE    another process owns the embedded engine
├── GitFailed               GIT_ERROR             git refused, failed or took too long
├── ModelUnavailable        MODEL_UNAVAILABLE     a model cannot be loaded
├── RemoteFailed            as answered           an error of another ctx server, with its code
├── SettingsInvalid         CONFIGURATION_ERROR   the environment holds a wrong setting
└── Unexpected              INTERNAL_ERROR        a defect of ours; the log has the details

A message says the fact and the next step: "the data folder … is in use by process 12: stop it".
"""

from collections.abc import Mapping
from typing import Any


class CtxError(Exception):
    """The root: a message for people, a code for programs, details for both."""

    code: str = "INTERNAL_ERROR"

    def __init__(self, message: str, /, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details


class InvalidInput(CtxError):
    code = "VALIDATION_ERROR"

    def __init__(self, field: str, message: str, /, **details: Any) -> None:
        super().__init__(f"{field}: {message}", field=field, message=message, **details)


class EntryNotFound(InvalidInput):
    code = "ENTRY_NOT_FOUND"


class KnowledgeRefused(CtxError):
    code = "VALIDATION_ERROR"


class KnowledgeNotFound(KnowledgeRefused):
    code = "ENTRY_NOT_FOUND"


class RequestInvalid(CtxError):
    code = "VALIDATION_ERROR"


class CollectionNotFound(CtxError):
    code = "COLLECTION_NOT_FOUND"


class ModelMismatch(CtxError):
    code = "MODEL_MISMATCH"


class IndexingFailed(CtxError):
    code = "INDEXING_ERROR"


class RepoInUse(IndexingFailed):
    pass


class SearchFailed(CtxError):
    code = "SEARCH_ERROR"


class DecoderFailed(CtxError):
    code = "DECODER_ERROR"


class TimedOut(CtxError):
    code = "TIMEOUT_ERROR"


class RateLimited(CtxError):
    code = "RATE_LIMIT_ERROR"


class NotPermitted(CtxError):
    code = "NOT_PERMITTED"


class StorageFailed(CtxError):
    code = "STORAGE_ERROR"


class FolderInUse(StorageFailed):
    code = "DATA_FOLDER_IN_USE"


class GitFailed(CtxError):
    code = "GIT_ERROR"


class GitTimedOut(GitFailed):
    """A command of git that was stopped at its deadline."""


class GitLocked(GitFailed):
    """A command of git that found the lock of another one."""


class ModelUnavailable(CtxError):
    code = "MODEL_UNAVAILABLE"


class RemoteFailed(CtxError):
    def __init__(self, body: Mapping[str, Any], /) -> None:
        super().__init__(str(body["error"]), **body.get("details", {}))
        self.code = str(body["error_code"])


class SettingsInvalid(CtxError):
    code = "CONFIGURATION_ERROR"


class Unexpected(CtxError):
    code = "INTERNAL_ERROR"


def error_body(error: CtxError) -> dict[str, Any]:
    """Return the contract's error body."""
    return {
        "ok": False,
        "error": error.message,
        "error_code": error.code,
        "details": dict(error.details),
    }
