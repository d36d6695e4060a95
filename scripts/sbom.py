"""Writes what the product consists of as a CycloneDX document, and lists the licences.

    .venv/bin/python -m scripts.sbom > sbom.json
    .venv/bin/python -m scripts.sbom --licences
    .venv/bin/python -m scripts.sbom --extras postgres,otel --check

It reads the metadata of what is installed here: the project, everything that it needs in turn, and
the models that ship inside it. `--check` fails for a licence that nobody has looked at.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.constraints import PROJECT, is_needed, needs_of

NAME = "ctx-engine"
MODELS = PROJECT.parent / "services" / "ctx_core" / "embedding" / "models"
SPEC_VERSION = "1.6"
# Licences that anybody may ship with a program, as identifiers of SPDX.
ACCEPTED = frozenset(
    """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause ISC LGPL-3.0-only MIT MIT-0 MIT-CMU MPL-2.0 PSF-2.0
    Python-2.0 Unlicense Zlib CC0-1.0
    """.split()
)
# What packages write in place of an identifier.
SPELLINGS: Mapping[str, str] = {
    "apache": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache-2": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "gnu lesser general public license v3 (lgplv3)": "LGPL-3.0-only",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "the mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
_OPERATORS = re.compile(r"\s+(?:AND|OR|WITH)\s+|[()]")


def components(extras: Sequence[str] = ()) -> list[metadata.Distribution]:
    """Return the project and every distribution that it needs with these extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(f"{NAME}[{','.join(extras)}]" if extras else NAME)]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        key = f"{name}{sorted(requirement.extras)}"
        if key in seen:
            continue
        seen.add(key)
        found[name] = metadata.distribution(requirement.name)
        waiting += needs_of(requirement)
    return [found[name] for name in sorted(found)]


def licence_of(distribution: metadata.Distribution) -> str:
    """Return a licence as an expression of SPDX where the metadata allows that, else as written."""
    given = distribution.metadata
    if "License-Expression" in given:
        return str(given["License-Expression"])
    classified = [
        each.rsplit(" :: ", 1)[-1]
        for each in given.get_all("Classifier") or ()
        if each.startswith("License :: ") and not each.endswith("OSI Approved")
    ]
    written = str(given["License"]).strip() if "License" in given else ""
    candidates: list[str] = [written.splitlines()[0] if written else "", *classified]
    known = [SPELLINGS.get(each.lower().strip(), each) for each in candidates if each]
    known += [SPELLINGS.get(each.lower(), each) for each in _titles(distribution)]
    accepted = [each for each in known if each in ACCEPTED]
    return (accepted or known or ["unknown"])[0]


def _titles(distribution: metadata.Distribution) -> list[str]:
    """Return the first lines of the licence files that a distribution brings."""
    files = [each for each in distribution.files or () if "licenses" in each.parts]
    texts = [each.read_text() for each in files]
    return [text.strip().splitlines()[0].strip() for text in texts if text.strip()]


def is_accepted(expression: str) -> bool:
    """Whether every licence of an expression is one of the accepted."""
    names = [each for each in _OPERATORS.split(expression) if each.strip()]
    return bool(names) and all(each.strip() in ACCEPTED for each in names)


def model_components() -> list[dict[str, Any]]:
    """Return the models that ship in the package, with what their notices say."""
    notices = sorted(MODELS.glob("*/NOTICE"))
    return [
        {
            "type": "machine-learning-model",
            "bom-ref": f"model:{each.parent.name}",
            "name": each.parent.name,
            "description": " ".join(each.read_text().split()),
        }
        for each in notices
    ]


def document(extras: Sequence[str] = ()) -> dict[str, Any]:
    """Return the CycloneDX document. The same installation gives the same document."""
    every = components(extras)
    [own] = [each for each in every if each.name == NAME]
    others = [each for each in every if each is not own]
    listed = [_component(each) for each in others] + model_components()
    lines = "\n".join(sorted(component["bom-ref"] for component in listed))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, lines)}",
        "version": 1,
        "metadata": {"component": _component(own) | {"type": "application"}},
        "components": listed,
        "dependencies": [_dependencies(each, every) for each in every],
    }


def _reference(distribution: metadata.Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(distribution.name)}@{distribution.version}"


def _component(distribution: metadata.Distribution) -> dict[str, Any]:
    licence = licence_of(distribution)
    kind = "expression" if is_accepted(licence) else "license"
    named: Any = licence if kind == "expression" else {"name": licence}
    return {
        "type": "library",
        "bom-ref": _reference(distribution),
        "name": distribution.name,
        "version": distribution.version,
        "purl": _reference(distribution),
        "licenses": [{kind: named}],
    }


def _dependencies(
    distribution: metadata.Distribution, every: Sequence[metadata.Distribution]
) -> dict[str, Any]:
    by_name = {canonicalize_name(each.name): each for each in every}
    needed = [Requirement(text) for text in distribution.requires or ()]
    names = {canonicalize_name(each.name) for each in needed if is_needed(each)}
    known = sorted(_reference(by_name[name]) for name in names & by_name.keys())
    return {"ref": _reference(distribution), "dependsOn": known}


def licences(extras: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the distributions of each licence, without our own."""
    found: dict[str, list[str]] = {}
    for each in components(extras):
        if each.name != NAME:
            found.setdefault(licence_of(each), []).append(f"{each.name} {each.version}")
    return dict(sorted(found.items()))


def main() -> int:
    """Print the document or the licences; 1 for a licence that is not accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="comma-separated, such as postgres,otel")
    parser.add_argument("--licences", action="store_true", help="list licences instead")
    parser.add_argument("--check", action="store_true", help="print only what is not accepted")
    given = parser.parse_args()
    extras = [each for each in given.extras.split(",") if each]
    if given.licences or given.check:
        listed = licences(extras)
        refused = {name for name in listed if not is_accepted(name)}
        for name, packages in listed.items():
            if not given.check or name in refused:
                print(f"{name}: {', '.join(packages)}")
        return int(given.check and bool(refused))
    json.dump(document(extras), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
