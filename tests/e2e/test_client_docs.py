"""The examples of docs/clients.md can be pasted: they parse, and name what really is served."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from ctx_core.settings import Settings
from tests.support.processes import ROOT

DOCUMENT = (ROOT / "docs" / "clients.md").read_text()
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
URL = re.compile(r"http://127\.0\.0\.1[^\s\"`]*")
PARSERS = {"json": json.loads, "toml": tomllib.loads}
CLIENTS = ("Claude Code", "Cursor", "VS Code", "Codex", "Windsurf", "Gemini CLI", "opencode")


def default(name: str) -> int:
    return int(Settings.model_fields[name].default)


BOTH = f"http://127.0.0.1:{default('http_port')}/mcp"


def served_urls() -> set[str]:
    """Where both servers answer when nothing is set."""
    http = {
        f"http://127.0.0.1:{default(f'{name}_http_port')}/mcp" for name in ("memory", "indexer")
    }
    sse = {f"http://127.0.0.1:{default(f'{name}_sse_port')}/sse" for name in ("memory", "indexer")}
    return http | sse | {BOTH}


def snippets(*languages: str) -> list[Any]:
    found = (match for match in FENCE.finditer(DOCUMENT) if match["language"] in languages)
    return [pytest.param(match["language"], match["text"]) for match in found]


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", DOCUMENT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def urls_in(value: Any) -> Iterator[str]:
    """Every URL of ours in a parsed configuration."""
    if isinstance(value, str) and URL.fullmatch(value):
        yield value
    children = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        for child in children:
            yield from urls_in(child)


@pytest.mark.parametrize(("language", "text"), snippets(*PARSERS))
def test_snippets_parse_and_carry_the_default_ports(language: str, text: str) -> None:
    parsed = PARSERS[language](text)
    assert set(urls_in(parsed)) <= served_urls()
    assert len(URL.findall(text)) == len(list(urls_in(parsed)))


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_is_shown_both_servers(client: str) -> None:
    """Either server by itself; the head of the page has the one address of both."""
    wanted = {url for url in served_urls() if url.endswith("/mcp")} - {BOTH}
    assert wanted <= set(URL.findall(sections()[client]))


def test_the_one_address_is_shown() -> None:
    assert BOTH in URL.findall(DOCUMENT.split("\n## ")[0])


def test_every_url_is_one_that_is_served() -> None:
    found = set(URL.findall(DOCUMENT))
    toolset_urls = {url for url in found if "/mcp/x/" in url}
    assert found - toolset_urls == served_urls()
    assert {url.partition("/x/")[0] for url in toolset_urls} <= served_urls()
    assert {urlsplit(url).path for url in toolset_urls} == {"/mcp/x/memory"}


def test_every_setting_exists() -> None:
    """ctx refuses to start when it finds a CTX_ name that is not a setting."""
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    named = set(re.findall(r"(?<![A-Z_])(?:CTX|QDRANT)_[A-Z_]+", DOCUMENT))
    assert named
    assert named <= known


def test_every_module_can_be_run() -> None:
    modules = re.findall(r"\bctx_(\w+)", DOCUMENT)
    assert set(modules) == {"memory", "indexer"}
    assert all((ROOT / "services" / f"ctx_{name}" / "__main__.py").exists() for name in modules)
