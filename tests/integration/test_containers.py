"""No container engine is needed: the files are checked by schema, and their steps are replayed."""

import asyncio
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dockerfile_parse import DockerfileParser
from fastmcp import Client

from ctx_core.environment.ports import (
    CONVERSATIONS,
    HEALTH_OFFSET,
    INDEXER_HTTP,
    INDEXER_SSE,
    MEMORY_HTTP,
    MEMORY_SSE,
)
from tests.support.corpus import FILES
from tests.support.processes import ROOT, Server, environment, running
from tests.support.repositories import Repository

DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"
COMPOSE = ROOT / "docker-compose.yml"
TARGETS = ("memory", "indexer")
PORTS = {
    "memory": (MEMORY_HTTP[1], MEMORY_SSE[1]),
    "indexer": (INDEXER_HTTP[1], INDEXER_SSE[1]),
}
# What a build uninstalls, and the module that is then missing.
MODULES = {
    "tree-sitter": "tree_sitter",
    "tree-sitter-language-pack": "tree_sitter_language_pack",
    "watchdog": "watchdog",
    "google-re2": "re2",
    "asyncpg": "asyncpg",
}


@pytest.fixture(scope="module")
def steps() -> list[dict[str, str]]:
    parser = DockerfileParser(path=str(DOCKERFILE))
    return [s for s in parser.structure if s["instruction"] != "COMMENT"]


def stage(steps: list[dict[str, str]], name: str) -> dict[str, str]:
    """The instructions of one stage, the last of each kind."""
    inside, found = False, {}
    for step in steps:
        if step["instruction"] == "FROM":
            inside = step["value"].endswith(f"AS {name}")
        elif inside:
            found[step["instruction"]] = step["value"]
    return found


def test_compose_follows_the_specification() -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    command = [str(checker), "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_compose_publishes_on_loopback_only() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 9
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_containers_open_the_ports_of_the_settings(steps: list[dict[str, str]]) -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for target, ports in PORTS.items():
        expected = {*ports, *(port + HEALTH_OFFSET for port in ports)}
        if target == "memory":
            expected.add(CONVERSATIONS[1])
        assert {int(port) for port in stage(steps, target)["EXPOSE"].split()} == expected
        published = [port.removeprefix("127.0.0.1:") for port in services[target]["ports"]]
        assert set(published) == {f"{port}:{port}" for port in expected}
    memory = services["indexer"]["environment"]["CTX_MEMORY_URL"]
    assert memory == f"http://memory:{MEMORY_HTTP[1]}/mcp"


def test_compose_names_real_targets_and_settings() -> None:
    from ctx_core.settings import env_names

    services = yaml.safe_load(COMPOSE.read_text())["services"]
    for target in TARGETS:
        assert services[target]["build"]["target"] == target
        assert set(services[target]["environment"]) <= set(env_names())


def test_the_image_runs_as_nobody_special(steps: list[dict[str, str]]) -> None:
    assert stage(steps, "runtime")["USER"] == "10001"
    for target in TARGETS:
        assert {"HEALTHCHECK", "CMD", "EXPOSE"} <= set(stage(steps, target))


def test_what_is_copied_exists_and_is_let_through(steps: list[dict[str, str]]) -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    for step in steps:
        if step["instruction"] == "COPY" and "--from" not in step["value"]:
            *names, _ = shlex.split(step["value"])
            for name in names:
                assert (ROOT / name).exists()
                assert f"!{name}" in ignore


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build stage's install step: the package as an image holds it, not this checkout."""
    folder = tmp_path_factory.mktemp("image") / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--target", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    code = "import ctx_core.settings as s; print(s.__file__)"
    where = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(folder, PYTHONPATH=str(folder)),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(folder))
    return folder


def left_out(steps: list[dict[str, str]], target: str) -> list[str]:
    """The modules of the packages that the build of a target uninstalls."""
    words = shlex.split(stage(steps, f"build-{target}")["RUN"])
    packages = [word for word in words if word in MODULES]
    assert packages, words
    return [MODULES[package] for package in packages]


@pytest.mark.parametrize("target", TARGETS)
async def test_start_health_and_use_as_in_a_container(
    steps: list[dict[str, str]], installed: Path, tmp_path: Path, target: str
) -> None:
    """As user 10001, with code and workspace read-only, without the packages that are left out."""
    found = stage(steps, target)
    program, *start = json.loads(found["CMD"])
    health = json.loads(found["HEALTHCHECK"].split("CMD", 1)[1])
    assert program == health[0] == "python"
    workspace = read_only_workspace(tmp_path)
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    lines = [f"import sys; sys.modules[{name!r}] = None" for name in left_out(steps, target)]
    (blocked / "sitecustomize.py").write_text("\n".join(lines))
    env = environment(
        tmp_path / "data",
        PYTHONPATH=f"{blocked}:{installed}",
        CTX_HOST="0.0.0.0",
        CTX_WORKSPACE=str(workspace),
        CTX_HOST_WORKSPACE="/home/me/shop",
    )
    with running(env, *start, cwd=tmp_path, launcher=as_user()) as server:
        port = server.memory_health if target == "memory" else server.indexer_health
        default = "http://127.0.0.1:18002" if target == "memory" else "http://127.0.0.1:18003"
        assert default in health[2]
        probe = [sys.executable, "-c", health[2].replace(default, port)]
        assert await asyncio.to_thread(subprocess.call, probe) == 0
        await (use_memory(server) if target == "memory" else use_indexer(server))
        assert server.stop() == 0


async def use_memory(server: Server) -> None:
    async with Client(server.memory_http) as client:
        await client.call_tool("store", {"information": "Containers run as user 10001."})
        found = await client.call_tool("find", {"query": "which user do containers run as"})
    assert "10001" in str(found.structured_content)


async def use_indexer(server: Server) -> None:
    async with Client(server.indexer_http) as client:
        await client.call_tool("qdrant_index", {})
        found = await client.call_tool("repo_search", {"query": "exponential backoff with jitter"})
        body = found.structured_content
        assert body is not None
        assert body["results"][0]["path"] == "src/net/retry.py"
        read = await client.call_tool("read_code", {"path": "/home/me/shop/src/net/retry.py"})
        assert "retry" in str(read.structured_content)


def read_only_workspace(parent: Path) -> Path:
    """A repository in which nothing can be written, as it is mounted."""
    repository = Repository.create(parent / "shop")
    for name, text in FILES.items():
        repository.write(name, text)
    repository.commit()
    subprocess.run(["chmod", "-R", "a-w", str(repository.root)], check=True)
    return repository.root


def as_user() -> list[str]:
    """Become user 10001 in a user namespace: without capabilities, so that modes forbid."""
    launcher = ["unshare", "--user", "--map-user=10001", "--map-group=10001"]
    done = subprocess.run([*launcher, "true"], check=False, capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"no user namespace here: {done.stderr.decode()[:200]}")
    return launcher
