"""Translate the errors of the Qdrant server's client into ours: the only file that knows them."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from ctx_core.errors import CollectionNotFound, CtxError, InvalidInput, StorageFailed

log = logging.getLogger(__name__)

NAME = "Qdrant (QDRANT_URL)"  # errors reach clients: none has the URL
_AUTH_STATUSES = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
_REQUEST_STATUSES = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}


@dataclass(frozen=True)
class ErrorTranslator:
    """Translates the errors of one server; `hint` is the remedy where it cannot be reached."""

    url: str
    timeout: float
    hint: str

    @contextmanager
    def errors(self, collection: str | None = None) -> Iterator[None]:
        """Translate everything that the client raises in the block."""
        try:
            yield
        except UnexpectedResponse as error:
            raise self._response_error(error, collection) from error
        except ResponseHandlingException as error:
            raise self._connection_error(error.source) from error
        except httpx.HTTPError as error:
            raise self._connection_error(error) from error
        except (QdrantException, RuntimeError) as error:
            # Overload, and a client that was closed.
            raise StorageFailed(f"{NAME} failed: {error}") from error
        except (ValueError, TypeError) as error:
            # The client could not read an argument, such as a URL.
            raise InvalidInput("request", str(error).strip().splitlines()[0]) from error

    def _response_error(self, error: UnexpectedResponse, collection: str | None) -> CtxError:
        reason = _reason(error)
        if error.status_code == HTTPStatus.NOT_FOUND and collection is not None:
            return CollectionNotFound(
                f"there is no collection {collection!r} in Qdrant", collection=collection
            )
        if error.status_code in _AUTH_STATUSES:
            return StorageFailed(
                f"{NAME} refused us ({error.status_code}): set QDRANT_API_KEY to a key that may "
                "read and write"
            )
        if error.status_code in _REQUEST_STATUSES:
            return InvalidInput("request", reason)
        return StorageFailed(f"{NAME} answered {error.status_code}: {reason}")

    def _connection_error(self, source: Exception) -> CtxError:
        if isinstance(source, httpx.TimeoutException):
            return StorageFailed(f"{NAME} did not answer within {self.timeout:g} s")
        if isinstance(source, ValidationError):
            return StorageFailed(
                "a server answers, but not as a Qdrant server does: check QDRANT_URL"
            )
        if "CERTIFICATE_VERIFY_FAILED" in str(source):
            return StorageFailed(
                f"the certificate of {NAME} is not trusted: set QDRANT_CA_CERT to the PEM file of "
                "the authority that signed it"
            )
        log.debug("Qdrant at %s cannot be reached: %s", self.url, source)
        return StorageFailed(f"{NAME} cannot be reached: {self.hint}")


@contextmanager
def ignore_existing() -> Iterator[None]:
    """Ignore the server's response that a collection to be created exists."""
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def without_credentials(url: str) -> str:
    """Return a URL without user and password, for errors and logs."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: UnexpectedResponse) -> str:
    try:
        return str(json.loads(error.content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return error.reason_phrase or error.content[:200].decode(errors="replace")
