"""Errors of a server, as ours, with what to do."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ctx_core.errors import CollectionNotFound, CtxError, StorageFailed
from tests.support.vectors.opened import NOBODY, failure, opened


async def test_an_unreachable_server_is_told_by_its_setting(folder: Path) -> None:
    store = await opened(folder, url=NOBODY)
    message = await failure(store)
    assert NOBODY not in message
    assert "QDRANT_URL" in message


async def test_an_api_key_over_http_is_no_warning(folder: Path, qdrant_url: str) -> None:
    store = await opened(folder, url=qdrant_url, api_key="unused")
    await store.ping()
    await store.close()


async def test_a_silent_server_times_out(folder: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        store = await opened(
            folder, url=f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=1.0
        )
        assert "did not answer within 1 s" in await failure(store)


# --- answers that a healthy server does not give -------------------------------------------


class Answer(BaseHTTPRequestHandler):
    """Answers with the status in the first part of the path."""

    def do_GET(self) -> None:
        status = int(self.path.split("/")[1])
        body = b'{"status": {"error": "simulated"}, "result": 7, "title": "", "version": "1.15.3"}'
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[int]:
    """Run such a server, with TLS where there is a certificate; yield its port."""
    server = HTTPServer(("127.0.0.1", 0), Answer)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def answering() -> Iterator[str]:
    with serving() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate for the loopback address in one file."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*command.split(), *subject, "-keyout", file, "-out", file.with_suffix(".crt")],
        check=True,
        capture_output=True,
    )
    file.write_text(file.read_text() + file.with_suffix(".crt").read_text())
    return file


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "QDRANT_API_KEY"),
        (403, "QDRANT_API_KEY"),
        (500, "answered 500: simulated"),
        (503, "answered 503"),
        (200, "not as a Qdrant server does: check QDRANT_URL"),
    ],
)
async def test_failures_say_what_to_do(
    folder: Path, answering: str, status: int, said: str
) -> None:
    store = await opened(folder, url=f"{answering}/{status}")
    assert said in await failure(store)


async def test_an_old_server_gives_an_advice(folder: Path, answering: str) -> None:
    store = await opened(folder, url=f"{answering}/200")
    advice = await store.advice()
    await store.close()
    assert advice is not None
    assert "1.15.3" in advice
    assert "upgrade" in advice


async def test_tls_with_a_private_authority(folder: Path, certificate: Path) -> None:
    with serving(certificate) as port:
        url = f"https://127.0.0.1:{port}/500"
        assert "QDRANT_CA_CERT" in await failure(await opened(folder, url=url))
        trusting = await opened(folder, url=url, ca_cert=certificate.with_suffix(".crt"))
        assert "answered 500" in await failure(trusting)


async def test_an_authority_that_cannot_be_read(folder: Path) -> None:
    for wrong in (Path("/no/such.pem"), Path(__file__)):
        with pytest.raises(StorageFailed, match="QDRANT_CA_CERT"):
            await opened(folder, url=NOBODY, ca_cert=wrong)


async def test_a_missing_collection_is_not_a_failure_of_the_server(
    folder: Path, answering: str
) -> None:
    store = await opened(folder, url=f"{answering}/404")
    with pytest.raises(CollectionNotFound):
        await store.collection_info("c")
    await store.close()


@pytest.mark.parametrize("url", ["ftp://host:1", "http://127.0.0.1:notaport"])
async def test_an_invalid_url_is_refused(folder: Path, url: str) -> None:
    with pytest.raises(CtxError):
        await opened(folder, url=url)


async def test_the_credentials_of_a_url_are_never_shown(folder: Path, answering: str) -> None:
    url = answering.replace("http://", "http://someone:hunter2@")
    store = await opened(folder, url=f"{url}/500")
    assert "hunter2" not in store.engine
    message = await failure(store)
    assert answering not in message
    assert "hunter2" not in message
    assert "someone" not in message


async def test_a_closed_store_says_so(folder: Path, qdrant_url: str) -> None:
    store = await opened(folder, url=qdrant_url)
    await store.close()
    await store.close()
    assert "closed" in await failure(store)
