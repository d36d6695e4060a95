"""The client of a Qdrant server: its address, its certificate, its key."""

import math
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdrant_client import AsyncQdrantClient

from ctx_core.errors import StorageFailed


def open_client(
    url: str, api_key: str | None, ca_cert: Path | None, timeout: float, *, proxies: bool
) -> AsyncQdrantClient:
    """Return a client, which makes no request yet. Raises StorageFailed for a wrong certificate."""
    verify = _tls_context(ca_cert) if ca_cert else True
    with _without_key_warning():
        return AsyncQdrantClient(
            url=url,
            api_key=api_key,
            timeout=math.ceil(timeout),
            check_compatibility=False,
            verify=verify,
            trust_env=proxies,
        )


def _tls_context(ca_cert: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_cert)
    except OSError as error:  # an SSLError is one too
        raise StorageFailed(f"QDRANT_CA_CERT={ca_cert} cannot be used: {error}") from error


@contextmanager
def _without_key_warning() -> Iterator[None]:
    """Silence the client's warning of an API key over plain http, usual in a cluster."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        yield
