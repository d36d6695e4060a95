"""`deploy/registry/server.json` is what the MCP registry asks for, of this package.

The rules are those of the schema that it names: which fields there must be, and their patterns.
"""

import json
import re
import tomllib
from typing import Any

import click

from ctx.cli import cli
from tests.support.processes import ROOT

SERVER = json.loads((ROOT / "deploy" / "registry" / "server.json").read_text())
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
SCRIPTS = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-scripts"]
PACKAGE_FIELDS = {
    *("registryType", "registryBaseUrl", "identifier", "version", "fileSha256", "runtimeHint"),
    *("transport", "runtimeArguments", "packageArguments", "environmentVariables"),
}
LONGEST_DESCRIPTION = 100


def test_the_fields_are_those_of_the_schema() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 0 < len(SERVER["description"]) <= LONGEST_DESCRIPTION
    assert re.fullmatch(r"\d+\.\d+\.\d+", SERVER["version"])
    assert SERVER["$schema"].endswith("/server.schema.json")
    for package in SERVER["packages"]:
        assert {"registryType", "identifier", "version", "transport"} <= package.keys()
        assert package.keys() <= PACKAGE_FIELDS
        assert package["transport"] == {"type": "stdio"}  # which needs no address
        assert all(
            each["type"] == "positional" and each["value"] for each in package["packageArguments"]
        )


def test_it_describes_this_package() -> None:
    [package] = SERVER["packages"]
    assert (package["identifier"], package["version"]) == (PROJECT["name"], PROJECT["version"])
    assert SERVER["version"] == PROJECT["version"]
    assert SERVER["description"] == PROJECT["description"]
    assert f"<!-- mcp-name: {SERVER['name']} -->" in (ROOT / "README.md").read_text()


def test_what_it_runs_exists() -> None:
    """`uvx PACKAGE` runs the script of the package's name, with these arguments."""
    [package] = SERVER["packages"]
    assert package["identifier"] in SCRIPTS.values()
    name, *arguments = [each["value"] for each in package["packageArguments"]]
    command: Any = cli.get_command(click.Context(cli), name)
    assert arguments == ["both"]
    assert arguments[0] in command.params[0].type.choices
