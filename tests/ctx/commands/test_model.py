"""`ctx model` against a hub on loopback: resumed, checked by hash, chosen, removed."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ctx.cli import cli
from ctx_core.settings import Settings

NAME = "qwen2.5-coder-0.5b"
CONTENT = bytes(range(256)) * 4_000


class Hub(ThreadingHTTPServer):
    """Serves one file as the public hub does: the hash of it in a header, ranges, a redirect."""

    content = CONTENT
    digest = hashlib.sha256(CONTENT).hexdigest()
    breaks_after: int | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.ranges: list[str | None] = []
        self.paths: list[str] = []


class _Answer(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.server.paths.append(self.path)
        self.send_response(302)
        self.send_header("Location", "/file")
        self.send_header("X-Linked-Etag", f'"{self.server.digest}"')
        self.end_headers()

    def do_GET(self) -> None:
        hub, asked = self.server, self.headers.get("Range")
        hub.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        data = hub.content[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: hub.breaks_after])
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    served = Hub()
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield served
    served.shutdown()
    served.server_close()


@pytest.fixture
def data_dir(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CTX_MODEL_HUB", f"http://127.0.0.1:{hub.server_address[1]}")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["model", *arguments], standalone_mode=False)


def test_a_model_is_fetched_chosen_and_removed(hub: Hub, data_dir: Path) -> None:
    pulled = json.loads(run("pull", NAME, "--json").stdout)
    assert Path(pulled["path"]).read_bytes() == CONTENT
    expected = (
        "/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    )
    assert hub.paths == [expected]
    assert run("use", NAME).return_value == 0
    settings = Settings(data_dir=data_dir)
    assert (settings.chosen_decoder, settings.has_decoder) == (NAME, True)
    listed = json.loads(run("list", "--json").stdout)
    [chosen] = [each for each in listed["models"] if each["chosen"]]
    assert (chosen["name"], chosen["bytes"]) == (NAME, len(CONTENT))
    assert run("rm", NAME, "--yes").return_value == 0
    assert not Path(pulled["path"]).exists()
    assert not settings.has_decoder


def test_an_interrupted_fetch_goes_on_where_it_stopped(hub: Hub, data_dir: Path) -> None:
    hub.breaks_after = 300_000
    failed = run("pull", NAME)
    assert failed.return_value == 3
    assert "goes on from where it stopped" in failed.stderr
    part = data_dir / "decoders" / f"{NAME}.gguf.part"
    have = part.stat().st_size
    assert 0 < have <= 300_000
    hub.breaks_after = None
    assert run("pull", NAME).return_value == 0
    assert hub.ranges == [None, f"bytes={have}-"]
    assert (data_dir / "decoders" / f"{NAME}.gguf").read_bytes() == CONTENT
    assert not part.exists()


def test_a_file_with_another_hash_is_removed(hub: Hub, data_dir: Path) -> None:
    hub.content = CONTENT[:-1] + b"!"
    failed = run("pull", NAME)
    assert failed.return_value == 3
    assert "SHA-256 differs" in failed.stderr
    assert list((data_dir / "decoders").iterdir()) == []


def test_a_hub_that_announces_no_hash_is_refused(hub: Hub, data_dir: Path) -> None:
    hub.digest = "unknown"
    failed = run("pull", NAME)
    assert failed.return_value == 3
    assert not (data_dir / "decoders" / f"{NAME}.gguf").exists()


def test_unknown_names_say_what_there_is(data_dir: Path) -> None:
    assert NAME in run("pull", "gpt-9").stderr
    assert run("use", "gpt-9").return_value == 2
    assert run("rm", NAME, "--yes").return_value == 2
