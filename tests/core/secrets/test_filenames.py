"""Files that are known by their name to hold secrets."""

import pytest

from ctx_core.secrets.filenames import FileKind, file_kind, is_secret_name


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        ".env.default",
        ".env.bak",
        "prod.env",
        "id_rsa",
        "keys/id_rsa.bak",
        "id_ed25519.old",
        "id_ed25519_work",
        "server.key",
        "server.key.orig",
        "terraform.tfvars",
        "prod.auto.tfvars",
        "prod.tfvars.json",
        "terraform.tfstate.backup",
        "gcp-key.json",
        "my-service-account.json",
        "client_secret_123.json",
        "secrets.yaml",
        "secrets.prod.yaml",
        "prod-secrets.yml",
        "config/credentials.json",
        "home/.aws/credentials",
        ".git-credentials",
        ".netrc",
        "store.jks~",
    ],
)
def test_secret_names(path: str) -> None:
    assert is_secret_name(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        "config/secrets.example.yaml",
        "secrets.py",
        "core/secrets/redaction.py",
        "test_credentials.py",
        "id_rsa.pub",
        "keyboard.json",
        "monkey.json",
        "environment.yml",
        "variables.tf",
        "keys.ts",
    ],
)
def test_other_names(path: str) -> None:
    assert not is_secret_name(path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/config.yaml", FileKind.CONFIG),
        ("build/Dockerfile.prod", FileKind.CONFIG),
        (".env.example", FileKind.CONFIG),
        ("README.md", FileKind.PROSE),
        ("", FileKind.PROSE),
        ("main.go", FileKind.CODE),
        ("Makefile", FileKind.CODE),
    ],
)
def test_what_bare_values_are(path: str, kind: FileKind) -> None:
    assert file_kind(path) is kind
