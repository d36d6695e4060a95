"""Ordinary code is left as it is."""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from ctx_core.secrets.redaction import find_secrets

LINES_PER_FALSE_ALARM = 2_000
# Real code that is installed wherever these tests run, with servers, databases and clients in it.
LIBRARIES = ["sqlalchemy", "alembic", "starlette", "httpx", "qdrant-client"]


def _sources(library: str) -> Iterator[tuple[str, str]]:
    for file in distribution(library).files or []:
        path = Path(str(file.locate()))
        if path.suffix in (".py", ".json", ".md", ".txt", ".toml", ".pyi") and path.is_file():
            yield str(file), path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("library", LIBRARIES)
def test_real_code_has_few_false_alarms(library: str) -> None:
    lines = 0
    found: Counter[str] = Counter()
    for path, text in _sources(library):
        lines += text.count("\n")
        for secret in find_secrets(text, path):
            found[f"{path}: {text[secret.start : secret.end][:40]}"] += 1
    assert lines > LINES_PER_FALSE_ALARM
    assert found.total() <= lines / LINES_PER_FALSE_ALARM, found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.py", "password = get_password(user)"),
        ("app.py", """add("PASSWORD", "password='%s'")"""),
        ("app.py", """PASSWORD_TEMPLATE = "password={password}" """),
        ("app.py", "token = self.tokens[0].value"),
        ("app.py", 'password = os.environ["DB_PASSWORD"]'),
        ("app.py", 'password="secret"'),
        ("app.py", 'token_url = "https://example.org/oauth2/token"'),
        ("app.py", "def check_password(self, raw_password: str) -> bool:"),
        ("app.py", 'SECRET_NAME = "app-database-credentials"'),
        ("app.py", 'primary_key = "0f3a9c81d2e47b56"'),
        ("app.py", 'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"): return 1'),
        ("app.yaml", "password: ${DB_PASSWORD}"),
        ("app.yaml", "password: {{ .Values.db.password }}"),
        ("app.yaml", "password: <your-password>"),
        ("app.yaml", "password: changeme"),
        ("app.yaml", "token: ${{ secrets.GITHUB_TOKEN }}"),
        ("app.yaml", "kind: ConfigMap\ndata:\n  password_file: /run/secrets/db"),
        ("app.json", '{"password": "Passwort", "token": "string"}'),
        ("package.json", '{"jsonwebtoken": "^9.0.2", "password-validator": "^5.3.0"}'),
        ("main.tf", "password = var.db_password"),
        ("README.md", "Connect with postgresql://user:password@localhost/db"),
        ("README.md", "The password is required and must have eight characters."),
        ("", "the token expires after 3600 seconds"),
        ("", "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it"),
    ],
)
def test_what_is_no_secret_stays(path: str, text: str) -> None:
    assert find_secrets(text, path) == []
