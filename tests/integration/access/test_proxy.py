"""The documented proxy: nginx with deploy/proxy/nginx.conf ends TLS in front of real servers."""

import contextlib
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.integration.access.conftest import FULL, HOST, Scene
from tests.support.processes import ROOT
from tests.support.qdrant import free_port
from tests.support.tool_client import ToolClient

CONFIGURATION = ROOT / "deploy" / "proxy" / "nginx.conf"
START_SECONDS = 20.0


@dataclass(frozen=True)
class Proxy:
    """A running nginx and its ports; `memory_http` is both servers at one address."""

    http: int
    https: int

    @property
    def memory_http(self) -> str:
        return f"https://127.0.0.1:{self.https}/mcp"

    @property
    def indexer_http(self) -> str:
        return self.memory_http


def program() -> str:
    """The nginx of this machine, or a skip."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("no nginx here: apt-get install nginx")
    return found


@pytest.fixture(scope="module")
def proxy(place: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    nginx, folder = program(), tmp_path_factory.mktemp("proxy")
    ports = Proxy(free_port(), free_port())
    env = place.server.env
    replaced = {
        "listen 80;": f"listen 127.0.0.1:{ports.http};",
        "listen 443 ssl": f"listen 127.0.0.1:{ports.https} ssl",
        "127.0.0.1:8010": f"127.0.0.1:{env['CTX_HTTP_PORT']}",
        "127.0.0.1:8000": f"127.0.0.1:{env['CTX_MEMORY_SSE_PORT']}",
        "127.0.0.1:6789": f"127.0.0.1:{env['PORT']}",
        "/etc/ssl/ctx/": f"{folder}/",
        "/run/nginx-ctx.pid": f"{folder}/pid",
        "http {\n": "http {\n" + temporary_folders(folder),
    }
    text = CONFIGURATION.read_text()
    for example, here in replaced.items():
        assert example in text, example
        text = text.replace(example, here)
    (folder / "nginx.conf").write_text(text)
    make_certificate(folder)
    command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        wait_until_open(ports.http)
        yield ports
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def temporary_folders(folder: Path) -> str:
    """Where nginx keeps bodies, as an unprivileged user may."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "".join(f"    {kind}_temp_path {folder}/{kind};\n" for kind in kinds)


def make_certificate(folder: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)


def wait_until_open(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/", timeout=1)
            return
        time.sleep(0.05)
    raise AssertionError("nginx does not answer")


def browser(**options: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=False, timeout=20, headers={"Host": HOST}, **options)  # type: ignore[arg-type]


async def test_tools_of_both_servers_are_called_over_tls(place: Scene, proxy: Proxy) -> None:
    client = ToolClient(proxy, place.tokens["limited"], host=HOST)
    assert "apple_of_code" in await client.done("indexer", "exact_search", pattern="apple")
    assert '"ok": true' in await client.done(
        "memory", "store", information="over TLS", collection="team"
    )
    failed, said = await client.call("memory", "list_memories", {})
    assert failed
    assert "NOT_PERMITTED" in said


async def test_plain_http_is_sent_to_tls_and_old_tls_is_refused(proxy: Proxy) -> None:
    async with browser() as client:
        answer = await client.get(f"http://127.0.0.1:{proxy.http}/mcp")
        assert answer.status_code == 308
        assert answer.headers["location"] == f"https://{HOST}/mcp"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with pytest.deprecated_call():
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((httpx.ConnectError, ssl.SSLError)):
        async with httpx.AsyncClient(verify=old) as client:
            await client.get(proxy.memory_http)


async def test_no_token_no_owner_and_no_inside_address_from_outside(
    place: Scene, proxy: Proxy
) -> None:
    owner = (Path(place.server.env["CTX_DATA_DIR"]) / "owner.token").read_text()
    async with browser() as client:
        for headers in ({}, {"X-Ctx-Owner": owner}, {"X-Ctx-Local": owner}):
            answer = await client.post(proxy.memory_http, json={}, headers=headers)
            assert answer.status_code == 401, headers
            assert "max-age" in answer.headers["strict-transport-security"]
        for path in ("/livez", "/readyz", "/metrics", "/tools", "/"):
            url = f"https://127.0.0.1:{proxy.https}{path}"
            assert (
                await client.get(url, headers={"Authorization": f"Bearer {FULL}"})
            ).status_code == 404
        rest = f"https://127.0.0.1:{proxy.https}/conversations/contexts"
        assert (await client.get(rest)).status_code == 401
        assert (
            await client.get(rest, headers={"Authorization": f"Bearer {FULL}"})
        ).status_code == 200


async def test_a_stream_is_passed_on_at_once(place: Scene, proxy: Proxy) -> None:
    headers = {"Authorization": f"Bearer {place.tokens['read']}", "Accept": "text/event-stream"}
    url = f"https://127.0.0.1:{proxy.https}/sse"
    async with browser() as client, client.stream("GET", url, headers=headers) as stream:
        assert stream.status_code == 200
        async for line in stream.aiter_lines():  # of a stream that goes on
            assert line.startswith("event: endpoint")
            break
