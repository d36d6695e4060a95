"""The list of what the product consists of, its licences, and the audit."""

import re

import pytest

from scripts.audit import report
from scripts.constraints import FILE, declared
from scripts.sbom import document, is_accepted, licences


@pytest.mark.slow
def test_the_document_lists_every_dependency_as_it_is_pinned() -> None:
    bom = document(["postgres", "otel"])
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    assert bom["metadata"]["component"]["name"] == "ctx-engine"
    packages = {each["purl"] for each in bom["components"] if "purl" in each}
    pinned = {f"pkg:pypi/{line.replace('==', '@')}" for line in FILE.read_text().splitlines()[1:]}
    assert packages <= pinned
    names = {re.split("[/@]", each)[1] for each in packages}
    assert {each.name.lower() for each in declared()[:10]} <= names
    references = {each["bom-ref"] for each in bom["components"]} | {
        bom["metadata"]["component"]["bom-ref"]
    }
    assert len(references) == len(bom["components"]) + 1
    for each in bom["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= references
    assert document(["postgres", "otel"]) == bom
    models = [each for each in bom["components"] if each["type"] == "machine-learning-model"]
    assert len(models) == 3


def test_every_licence_is_known_and_accepted() -> None:
    assert [name for name in licences(["postgres", "otel"]) if not is_accepted(name)] == []


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("MIT OR (Apache-2.0 AND BSD-3-Clause)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("unknown", False),
        ("", False),
    ],
)
def test_a_licence_that_nobody_has_looked_at_is_refused(expression: str, accepted: bool) -> None:
    assert is_accepted(expression) is accepted


def test_an_audit_says_what_it_did_not_look_at() -> None:
    """pip-audit itself ends with success where every package was skipped."""
    skipped = {"name": "a", "skip_reason": "not found"}
    lines, code = report({"dependencies": [skipped]})
    assert code == 0
    assert "SKIPPED" in lines[-1]
    sound = {"name": "b", "version": "1", "vulns": []}
    lines, code = report({"dependencies": [skipped, sound]})
    assert (lines, code) == (["audit: 1 packages, 0 vulnerabilities, 1 skipped"], 0)
    found = {"id": "PYSEC-1", "fix_versions": ["2"]}
    lines, code = report({"dependencies": [{**sound, "vulns": [found]}]})
    assert code == 1
    assert lines[0] == "b 1: PYSEC-1, fixed in 2"
