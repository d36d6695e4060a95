"""No container engine is needed: the files are checked by schema, and their steps are replayed."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from tests.support.processes import ROOT, environment, running

DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"
COMPOSE = ROOT / "docker-compose.yml"
TARGETS = ("memory", "indexer")


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


def test_compose_names_real_targets_and_settings() -> None:
    from services.core.settings import env_names

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
    code = "import services.core.settings as s; print(s.__file__)"
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


@pytest.mark.parametrize("target", TARGETS)
def test_start_and_health_steps(
    steps: list[dict[str, str]], installed: Path, tmp_path: Path, target: str
) -> None:
    found = stage(steps, target)
    program, *start = json.loads(found["CMD"])
    health = json.loads(found["HEALTHCHECK"].split("CMD", 1)[1])
    assert program == health[0] == "python"
    env = environment(tmp_path / "data", PYTHONPATH=str(installed), CTX_HOST="0.0.0.0")
    with running(env, *start, cwd=tmp_path) as server:
        port = server.memory_health if target == "memory" else server.indexer_health
        default = "http://127.0.0.1:18002" if target == "memory" else "http://127.0.0.1:18003"
        assert default in health[2]
        probe = [sys.executable, "-c", health[2].replace(default, port)]
        assert subprocess.run(probe, check=False).returncode == 0
        assert server.stop() == 0
