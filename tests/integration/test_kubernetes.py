"""The manifests: valid for every Kubernetes that we support, safe, and true to the code."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from ctx_core.environment.ports import (
    HEALTH_OFFSET,
    INDEXER_HTTP,
    INDEXER_SSE,
    MEMORY_HTTP,
    MEMORY_SSE,
)
from ctx_core.settings import env_names
from scripts.helm import HEADER, KUBERNETES, OVERLAYS, TEMPLATES, render_overlay
from tests.support.processes import ROOT

VERSIONS = ("1.27", "1.37")  # the oldest and the newest that are supported
CUSTOM = {"ServiceMonitor"}  # of an operator: no schema of Kubernetes itself
OUR_IMAGES = ("ctx-memory", "ctx-indexer")
Object = Mapping[str, Any]

pytestmark = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not here to render the overlays"
)


@pytest.fixture(scope="module", params=sorted(OVERLAYS))
def objects(request: pytest.FixtureRequest) -> list[Object]:
    return list(yaml.safe_load_all(render_overlay(request.param)))


def pods(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Each object that makes pods, and the spec of its pods."""
    for each in objects:
        spec = each.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            yield f"{each['kind']} {each['metadata']['name']}", spec["template"]["spec"]


def containers(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    for name, spec in pods(objects):
        for each in [*spec.get("initContainers", []), *spec["containers"]]:
            yield f"{name}/{each['name']}", each


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_follow_the_schemas(objects: list[Object], version: str) -> None:
    for each in objects:
        if each["kind"] not in CUSTOM:
            kubernetes_validate.validate(each, version, strict=True)


def test_pods_are_restricted(objects: list[Object]) -> None:
    for name, spec in pods(objects):
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True, name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
    for name, each in containers(objects):
        security = each["securityContext"]
        assert security["allowPrivilegeEscalation"] is False, name
        assert security["readOnlyRootFilesystem"] is True, name
        assert security["capabilities"] == {"drop": ["ALL"]}, name
        assert "memory" in each["resources"]["limits"], name
        assert not each["image"].endswith(":latest") and ":" in each["image"], name


def test_every_variable_is_a_setting(objects: list[Object]) -> None:
    known = set(env_names())
    for each in objects:
        if each["kind"] == "ConfigMap" and each["metadata"]["name"] == "ctx-settings":
            assert set(each["data"]) <= known
    for name, each in containers(objects):
        given = {variable["name"] for variable in each.get("env", [])}
        if each["image"].startswith(OUR_IMAGES):
            assert given <= known, name
        else:
            assert all(variable.startswith(("QDRANT__", "POD")) for variable in given), name


def test_probes_ask_the_health_ports(objects: list[Object]) -> None:
    asked = 0
    for name, each in containers(objects):
        ports = {port["name"]: port["containerPort"] for port in each.get("ports", [])}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if "health" not in ports or probe not in each:
                continue
            path = "/readyz" if probe == "readinessProbe" else "/livez"
            assert each[probe]["httpGet"] == {"path": path, "port": "health"}, name
            assert ports["health"] == ports["http"] + HEALTH_OFFSET, name
            assert ports["http"] in (MEMORY_HTTP[1], INDEXER_HTTP[1]), name
            assert ports["sse"] in (MEMORY_SSE[1], INDEXER_SSE[1]), name
            asked += 1
    assert asked == 6


def test_services_and_budgets_select_pods(objects: list[Object]) -> None:
    labels = [
        template["metadata"]["labels"].items()
        for each in objects
        for template in [each.get("spec", {}).get("template")]
        if isinstance(template, dict)
    ]
    for each in objects:
        spec = each.get("spec", {})
        wanted = spec.get("selector", {}) if each["kind"] == "Service" else {}
        if each["kind"] == "PodDisruptionBudget":
            wanted = spec["selector"]["matchLabels"]
        assert not wanted or any(wanted.items() <= own for own in labels), each["metadata"]


def test_commands_of_jobs_exist(objects: list[Object]) -> None:
    """`ctx` takes what the manifests pass."""
    for name, each in containers(objects):
        command = each.get("command", [])
        if command[:1] != ["ctx"]:
            continue
        options = [word for word in command[1:] if word.startswith("--")]
        shown = subprocess.run(
            [sys.executable, "-m", "ctx", command[1], "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert all(option in shown for option in options), name


# --- the Helm chart ---------------------------------------------------------------------------


def test_templates_are_written_anew() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/helm.py", "--check"], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, "run .venv/bin/python scripts/helm.py"


def rendered(name: str, values: Mapping[str, Any]) -> list[Object]:
    """Render a template as Helm does: it has values to put in, and nothing else."""
    text = (TEMPLATES / f"{name}.yaml").read_text().removeprefix(HEADER)
    body = text.removeprefix(f"{OVERLAYS[name]}\n").removesuffix("{{- end }}\n")
    known: Any = {"Values": values, "Release": {"Namespace": "ctx"}}

    def value(found: re.Match[str]) -> str:
        at = known
        for key in found[1].split("."):
            at = at[key]
        return str(at)

    body = re.sub(r"{{ \.([\w.]+) }}", value, body)
    assert "{{" not in body
    return list(yaml.safe_load_all(body))


@pytest.mark.parametrize("name", sorted(OVERLAYS))
def test_the_chart_renders_the_same_objects(name: str) -> None:
    values = yaml.safe_load((KUBERNETES / "helm" / "values.yaml").read_text())
    overlay = [each for each in yaml.safe_load_all(render_overlay(name)) if each]
    expected = [each for each in overlay if each["kind"] != "Namespace"]
    assert rendered(name, values) == expected
    values["images"]["memory"] = "registry.example.org/ctx-memory:9"
    images = {each["image"] for _, each in containers(rendered(name, values))}
    assert "registry.example.org/ctx-memory:9" in images


def test_no_manifest_is_left_out() -> None:
    """Every file below deploy/kubernetes is part of an overlay."""
    named = "".join(file.read_text() for file in KUBERNETES.rglob("kustomization.yaml"))
    for file in KUBERNETES.rglob("*.yaml"):
        if file.name != "kustomization.yaml" and "helm" not in file.parts:
            assert re.search(rf"\b{re.escape(file.name)}\b", named), file


def test_the_documented_commands_name_real_folders() -> None:
    text = (ROOT / "docs" / "kubernetes.md").read_text()
    found = re.findall(r"deploy/kubernetes[\w/-]*", text)
    assert found
    assert all((ROOT / Path(path)).exists() for path in found)
