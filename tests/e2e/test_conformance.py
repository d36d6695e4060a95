"""The MCP project's conformance suite against both servers; docs/conformance.md explains it."""

import asyncio
import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.node import Node
from tests.support.processes import ROOT, Server

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
REVISIONS = (HANDSHAKE, STATELESS)
SERVICES = ("memory", "indexer")
DOCUMENT = ROOT / "docs" / "conformance.md"
RESULT_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT")
GOOD = {"SUCCESS", "INFO", "SKIPPED"}
FAILURE = "FAILURE"

IN_BOTH = ("tools-list", "resources-list", "prompts-list", "dns-rebinding-protection")
PASSES: Mapping[str, tuple[str, ...]] = {
    HANDSHAKE: (
        *IN_BOTH,
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "logging-set-level",
        "server-sse-multiple-streams",
    ),
    STATELESS: (
        *IN_BOTH,
        "server-sse-multiple-streams",
        "caching",
        "http-header-validation",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
    ),
}

# They call tools which only the suite's own server has, and take any refusal for a pass.
HOLLOW = {
    "tools-call-simple-text",
    "tools-call-error",
    "input-required-result-missing-input-response",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
}

# Scenario → the checks that fail. Everything else in these scenarios passes.
FAILS_WITHOUT_FIXTURES: Mapping[str, set[str]] = {
    # tools which only the suite's own server has
    "tools-call-image": {"tools-call-image"},
    "tools-call-audio": {"tools-call-audio"},
    "tools-call-embedded-resource": {"tools-call-embedded-resource"},
    "tools-call-mixed-content": {"tools-call-mixed-content"},
    "tools-call-with-logging": {"tools-call-with-logging"},
    "tools-call-with-progress": {"tools-call-with-progress"},
    "tools-call-sampling": {"tools-call-sampling"},
    "tools-call-elicitation": {"tools-call-elicitation"},
    "json-schema-2020-12": {"json-schema-2020-12-tool-found"},
    "elicitation-sep1034-defaults": {"elicitation-sep1034-general"},
    "elicitation-sep1330-enums": {"elicitation-sep1330-general"},
    "server-sse-polling": {"incoming-sse-event"},
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
    },
    "http-custom-header-server-validation": {
        "sep-2243-server-no-xmcp-tool",
        "sep-2243-server-decode-base64",
        "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars",
        "sep-2243-server-reject-param-mismatch",
    },
    "input-required-result-basic-elicitation": {"sep-2322-elicitation-incomplete"},
    "input-required-result-basic-sampling": {"sep-2322-sampling-incomplete"},
    "input-required-result-basic-list-roots": {"sep-2322-list-roots-incomplete"},
    "input-required-result-request-state": {"sep-2322-request-state-incomplete"},
    "input-required-result-multiple-input-requests": {"sep-2322-multiple-inputs-incomplete"},
    "input-required-result-multi-round": {"sep-2322-multi-round-r1"},
    "input-required-result-result-type": {"sep-2322-result-type-included"},
    "input-required-result-tampered-state": {"sep-2322-reject-tampered-state"},
    "input-required-result-capability-check": {"sep-2322-respect-client-capabilities"},
    # prompts and resources of the suite's own server, and completions, which ctx does not offer
    "input-required-result-non-tool-request": {"sep-2322-non-tool-incomplete"},
    "prompts-get-simple": {"prompts-get-simple"},
    "prompts-get-with-args": {"prompts-get-with-args"},
    "prompts-get-embedded-resource": {"prompts-get-embedded-resource"},
    "prompts-get-with-image": {"prompts-get-with-image"},
    "resources-read-text": {"resources-read-text"},
    "resources-read-binary": {"resources-read-binary"},
    "resources-templates-read": {"resources-templates-read"},
    "resources-subscribe": {"resources-subscribe"},
    "resources-unsubscribe": {"resources-unsubscribe"},
    "completion-complete": {"completion-complete"},
}

# The indexer offers no prompts and no resources, announces none and knows none of their methods.
FAILS_ON_INDEXER: Mapping[str, set[str]] = {
    "resources-list": {"resources-list"},
    "prompts-list": {"prompts-list"},
    "caching": {
        "sep-2549-prompts-list-caching-hints",
        "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints",
    },
}
FAILS: Mapping[str, Mapping[str, set[str]]] = {
    "memory": FAILS_WITHOUT_FIXTURES,
    "indexer": {**FAILS_WITHOUT_FIXTURES, **FAILS_ON_INDEXER},
}

Checks = list[dict[str, Any]]
Run = Callable[[str, str], Mapping[str, Checks]]


@pytest.fixture(scope="session")
def run(server: Server, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Every scenario of a revision against a server, once: scenario → its checks."""

    @functools.cache
    def results(service: str, revision: str) -> Mapping[str, Checks]:
        folder = tmp_path_factory.mktemp("conformance")
        url = str(getattr(server, f"{service}_http"))
        which = ("--suite", "all", "--spec-version", revision)
        suite = (node.package("conformance"), "server", "--url", url, "-o", str(folder), *which)
        asyncio.run(node.run(*suite, may_fail=True))
        return {_scenario(found): json.loads(found.read_text()) for found in folder.rglob("*.json")}

    return results


def _scenario(checks: Path) -> str:
    matched = RESULT_FOLDER.match(checks.parent.name)
    assert matched, checks
    return matched["scenario"]


def _failed(checks: Checks) -> set[str]:
    return {check["id"] for check in checks if check["status"] == FAILURE}


@pytest.mark.parametrize(
    ("service", "revision", "scenario"),
    [
        (service, revision, scenario)
        for service in SERVICES
        for revision in REVISIONS
        for scenario in PASSES[revision]
        if scenario not in FAILS[service]
    ],
)
def test_passes(run: Run, service: str, revision: str, scenario: str) -> None:
    checks = run(service, revision)[scenario]
    assert [check for check in checks if check["status"] not in GOOD] == []
    assert "SUCCESS" in {check["status"] for check in checks}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("revision", REVISIONS)
def test_known_failures_are_exactly_these(run: Run, service: str, revision: str) -> None:
    """What is mended, or newly broken, must be moved to the list where it belongs."""
    results = run(service, revision)
    failed = {scenario: _failed(checks) for scenario, checks in results.items() if _failed(checks)}
    expected = {name: ids for name, ids in FAILS[service].items() if name in results}
    assert failed == expected


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_is_classified(run: Run, service: str, revision: str) -> None:
    listed = {*PASSES[revision], *HOLLOW, *FAILS_WITHOUT_FIXTURES}
    assert set(run(service, revision)) <= listed


def test_no_list_names_a_scenario_that_does_not_exist(run: Run) -> None:
    existing = {name for revision in REVISIONS for name in run("memory", revision)}
    assert HOLLOW | set(FAILS_WITHOUT_FIXTURES) <= existing


@pytest.mark.parametrize(
    ("heading", "scenarios"),
    [
        ("What passes", {name for names in PASSES.values() for name in names}),
        ("What says nothing", HOLLOW),
        ("What cannot pass, and why", set(FAILS_WITHOUT_FIXTURES)),
    ],
)
def test_the_document_names_them_all(heading: str, scenarios: set[str]) -> None:
    sections = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)
    [section] = [part for part in sections if part.startswith(f"{heading}\n")]
    cells = re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)} == scenarios
