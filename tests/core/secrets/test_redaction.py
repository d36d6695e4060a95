"""Redacted texts: what stands in place of a secret, and what is counted."""

import random
import string
from itertools import pairwise

from ctx_core.secrets.redaction import find_secrets, redact

KEY_LABEL = " ".join(["RSA", "PRIVATE", "KEY"])


def _random(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    made = random.Random(length)
    return "".join(made.choice(alphabet) for _ in range(length))


TOKEN = "gh" + "p_" + _random(36)


def test_the_kind_stands_in_place_of_the_secret() -> None:
    redaction = redact(f'push(token="{TOKEN}")  # twice: {TOKEN}\n')
    mark = "[redacted: GitHub token]"
    assert redaction.text == f'push(token="{mark}")  # twice: {mark}\n'
    assert redaction.kinds == {"GitHub token": 2}


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "def add(a, b):\n    return a + b\n"
    assert redact(text).text is text
    assert redact(text).kinds == {}


def test_a_private_key_keeps_its_lines() -> None:
    body = "\n".join(_random(64) for _ in range(12))
    key = f"-----BEGIN {KEY_LABEL}-----\n{body}\n-----END {KEY_LABEL}-----"
    text = f'before = 1\nKEY = """{key}"""\nafter = 2\n'
    redaction = redact(text, "keys.py")
    lines = redaction.text.split("\n")
    assert lines[1] == 'KEY = """[redacted: private key]'
    assert lines[text.split("\n").index("after = 2")] == "after = 2"
    assert body[:20] not in redaction.text


def test_a_private_key_without_an_end_is_cut_where_its_text_ends() -> None:
    body = "\n".join(_random(64) for _ in range(4))
    text = f"-----BEGIN {KEY_LABEL}-----\n{body}\n\n# more text (kept)\n"
    redaction = redact(text)
    assert body[-20:] not in redaction.text
    assert "(kept)" in redaction.text


def test_the_whole_of_a_dotted_token_goes() -> None:
    key = ".".join(["SG", _random(22), _random(43)])
    assert redact(f"mail({key})").text == "mail(SG.[redacted: SendGrid key])"


def test_the_secret_half_of_a_key_pair_goes_too() -> None:
    secret = _random(40, string.ascii_letters + string.digits + "/+")
    identifier = "AK" + "IA" + _random(16, string.ascii_uppercase + "234567")
    text = redact(f'new Credentials("{identifier}", "{secret}")').text
    assert text == 'new Credentials("[redacted: AWS access key]", "[redacted: AWS secret key]")'


def test_only_the_password_of_an_address_goes() -> None:
    found = redact("postgresql+asyncpg://app:Gr4nite-77@db:5432/app").text
    assert found == "postgresql+asyncpg://app:[redacted: password in a URL]@db:5432/app"


def test_letters_beside_ascii_do_not_move_the_marks() -> None:
    text = f"İİİ «ünïcödé» 🙂 {TOKEN} İ password: İstanbul-9x!Q"
    redaction = redact(text, "notes.yaml")
    assert redaction.text.startswith("İİİ «ünïcödé» 🙂 [redacted: GitHub token] İ")
    assert TOKEN not in redaction.text


def test_secrets_do_not_overlap() -> None:
    text = f'export GITHUB_TOKEN="{TOKEN}"\nurl = "https://app:{TOKEN}@github.com"\n'
    found = find_secrets(text, "run.sh")
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert redact(text, "run.sh").kinds == {"GitHub token": 2}


def test_every_value_of_a_kubernetes_secret_goes() -> None:
    text = (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  one: b25l\n"
        "  two: 'dHdv'\n  block: |\n    dGhyZWU=\n    Zm91cg==\ntype: Opaque\n"
    )
    redaction = redact(text, "app.yaml")
    assert redaction.kinds == {"Kubernetes secret": 4}
    assert redaction.text.count("\n") == text.count("\n")
    assert "name: app" in redaction.text
    assert "type: Opaque" in redaction.text


def test_values_that_a_template_fills_in_stay() -> None:
    text = "kind: Secret\ndata:\n  one: {{ .Values.one | b64enc }}\n"
    assert redact(text, "templates/app.yaml").text == text
