"""Secrets that are none: thirty formats, ten of each, made anew from a seed.

Every prefix is put together from pieces, so that no scanner takes this file for a leak. The files
look like those in which people leave secrets behind, with ordinary lines around them.
"""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SEED = 20_240_229
EACH = 10  # of a format

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"
URL64 = ALNUM + "_-"
SYMBOLS = "!@#%^*+="
WORDS = "falcon orbit maple copper winter harbor velvet rocket summer copper tiger lantern".split()


@dataclass(frozen=True)
class Planted:
    """A file with a secret in it; nothing of `secret` may be found by a search."""

    format: str
    path: str
    text: str
    secret: str


class Maker:
    """Random strings from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def string(self, length: int, alphabet: str = ALNUM) -> str:
        """Random characters; one is a digit, as in nearly every real token."""
        made = [self.random.choice(alphabet) for _ in range(length)]
        made[self.random.randrange(length)] = self.random.choice("234567")
        return "".join(made)

    def password(self) -> str:
        """What a person calls a strong password."""
        word = self.pick(*WORDS)
        number = self.random.randrange(10, 9999)
        return self.pick(
            f"{word.title()}{number}!",
            f"{word}-{self.pick(*WORDS)}#{number}",
            f"{word[0].upper()}{word[1:].replace('e', '3').replace('o', '0')}_{number}x",
            self.string(12, ALNUM + SYMBOLS),
            self.string(20),
        )

    def pem(self, label: str, lines: int) -> str:
        body = "\n".join(self.string(64, BASE64) for _ in range(lines))
        return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def _begin(*words: str) -> str:
    return " ".join(words)


RSA_LABEL = _begin("RSA", "PRIVATE", "KEY")
PKCS8_LABEL = _begin("PRIVATE", "KEY")
SSH_LABEL = _begin("OPENSSH", "PRIVATE", "KEY")

Made = tuple[str, str, str]  # path, text, secret


def _aws_id(m: Maker) -> Made:
    secret = m.pick("AK", "AS") + "IA" + m.string(16, BASE32)
    return "deploy.py", f'import boto3\n\nKEY_ID = "{secret}"\n', secret


def _aws_secret(m: Maker) -> Made:
    secret = m.string(40, BASE64)
    text = m.pick(
        f"[default]\naws_secret_access_key = {secret}\n",
        f'client("s3", aws_secret_access_key="{secret}")\n',
        f'export AWS_SECRET_ACCESS_KEY="{secret}"\n',
    )
    return m.pick("aws.ini", "upload.py", "run.sh"), text, secret


def _github(m: Maker) -> Made:
    short = "gh" + m.pick("p", "o", "u", "s", "r") + "_" + m.string(36)
    long = "github" + "_pat_" + m.string(22) + "_" + m.string(59)
    secret = m.pick(short, long)
    return "release.sh", f"git clone https://{secret}@github.com/acme/app.git\n", secret


def _gitlab(m: Maker) -> Made:
    secret = "gl" + m.pick("pat", "dt", "rt") + "-" + m.string(20, URL64)
    return "ci.py", f'session.headers["PRIVATE-TOKEN"] = "{secret}"\n', secret


def _jwt(m: Maker) -> Made:
    parts = ['{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{m.string(10)}","admin":true}}']
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    secret = ".".join([*encoded, m.string(43, URL64)])
    return "login.ts", f"const session = '{secret}';\n", secret


def _dsn(m: Maker) -> Made:
    secret = m.string(m.random.randrange(9, 24), ALNUM + "!*._-")
    scheme = m.pick("postgresql", "mysql+pymysql", "mongodb+srv", "amqp", "redis")
    return "db.py", f'URL = "{scheme}://app:{secret}@db.internal:5432/app"\n', secret


def _slack(m: Maker) -> Made:
    number = "".join(m.random.choices(string.digits, k=12))
    secret = f"xox{m.pick('b', 'p', 'a')}-{number}-{number[::-1]}-{m.string(24)}"
    return "notify.rb", f"Slack::Client.new('{secret}')\n", secret


def _slack_webhook(m: Maker) -> Made:
    secret = f"T{m.string(8).upper()}/B{m.string(8).upper()}/{m.string(24)}"
    host = "https://hooks.slack" + ".com/services/"
    return "alerts.yaml", f"alerts:\n  url: {host}{secret}\n", secret


def _google(m: Maker) -> Made:
    secret = "AI" + "za" + m.string(35, URL64)
    return "map.html", f'<script src="https://maps.example/js?key={secret}"></script>\n', secret


def _stripe(m: Maker) -> Made:
    secret = m.pick("s", "r") + "k_" + m.pick("live", "test") + "_" + m.string(24)
    return "billing.go", f'stripe.Key = "{secret}"\n', secret


def _openai(m: Maker) -> Made:
    secret = "sk" + "-" + m.pick("", "proj-", "svcacct-") + m.string(48)
    return "ask.py", f'client = OpenAI("{secret}")\n', secret


def _anthropic(m: Maker) -> Made:
    secret = "sk-" + "ant-" + "api03-" + m.string(93, URL64) + "AA"
    return "ask.js", f'const client = new Client({{ key: "{secret}" }});\n', secret


def _django(m: Maker) -> Made:
    secret = m.string(50, string.ascii_lowercase + string.digits + "!@#%^&*(-_=+)")
    return "settings.py", f"DEBUG = False\nSECRET_KEY = 'django-insecure-{secret}'\n", secret


def _secret_key(m: Maker) -> Made:
    secret = m.string(m.random.choice([32, 64]), HEX)
    text = m.pick(
        f'app.config["SECRET_KEY"] = "{secret}"\n',
        f'SECRET_KEY = os.environ.get("SECRET_KEY", "{secret}")\n',
        f"config.secret_key_base = '{secret}'\n",
    )
    return m.pick("app.py", "production.rb"), text, secret


def _yaml(m: Maker) -> Made:
    secret = m.password()
    text = m.pick(
        f"database:\n  host: db\n  password: {secret}\n",
        f'smtp:\n  user: app\n  smtp_password: "{secret}"  # rotate\n',
        f"redis:\n  auth:\n    passphrase: '{secret}'\n",
    )
    return m.pick("config/production.yaml", "values.yml"), text, secret


def _compose(m: Maker) -> Made:
    secret = m.password()
    text = m.pick(
        f"services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {secret}\n",
        f"services:\n  db:\n    environment:\n      - MYSQL_ROOT_PASSWORD={secret}\n",
    )
    return "docker-compose.yml", text, secret


def _dockerfile(m: Maker) -> Made:
    secret = m.password()
    line = m.pick(
        f"ENV DB_PASSWORD={secret}", f"ENV DB_PASSWORD {secret}", f"ARG NPM_TOKEN={secret}"
    )
    return m.pick("Dockerfile", "build/Dockerfile.prod"), f"FROM debian\n{line}\nRUN make\n", secret


def _properties(m: Maker) -> Made:
    secret = m.password()
    sign = m.pick("=", " = ", ":")
    return (
        "application.properties",
        f"server.port=80\nspring.datasource.password{sign}{secret}\n",
        secret,
    )


def _kubernetes(m: Maker) -> Made:
    plain = m.string(18)
    encoded = base64.b64encode(plain.encode()).decode()
    field = m.pick("data", "stringData")
    secret = encoded if field == "data" else plain
    text = (
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  mode: fast\n---\n"
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\n{field}:\n  value: {secret}\n"
    )
    return "k8s/app.yaml", text, secret


def _kubernetes_env(m: Maker) -> Made:
    secret = m.password()
    return "k8s/web.yaml", f"env:\n  - name: DB_PASSWORD\n    value: {secret}\n", secret


def _tfvars(m: Maker) -> Made:
    secret = m.password()
    return m.pick("prod.tfvars", "main.tf"), f'db_password = "{secret}"\n', secret


def _service_account(m: Maker) -> Made:
    secret = m.string(64, BASE64)
    key = m.pem(PKCS8_LABEL, 20).replace("-----\n", f"-----\n{secret}\n", 1)
    body = {"type": "service_account", "private_key_id": m.string(40, HEX), "private_key": key}
    return m.pick("gcp-key.json", "infra/robot.json"), json.dumps(body, indent=2), secret


def _npm(m: Maker) -> Made:
    secret = m.pick("npm" + "_" + m.string(36), m.string(36, HEX))
    return ".npmrc", f"//packages.example/:_authToken={secret}\n", secret


def _pem(m: Maker) -> Made:
    secret = m.string(64, BASE64)
    key = m.pem(RSA_LABEL, 24).replace("-----\n", f"-----\n{secret}\n", 1)
    return "certs/server.py", f'KEY = """{key}"""\n', secret


def _pem_in_large_file(m: Maker) -> Made:
    _, text, secret = _pem(m)
    filler = "".join(f"value_{number} = {number}\n" for number in range(6_000))
    return "large.py", filler + text + filler, secret


def _ssh_copy(m: Maker) -> Made:
    secret = m.string(64, BASE64)
    key = m.pem(SSH_LABEL, 24).replace("-----\n", f"-----\n{secret}\n", 1)
    return m.pick("id_rsa.bak", "keys/id_ed25519.old", "backup.txt"), key + "\n", secret


def _env_default(m: Maker) -> Made:
    secret = m.password()
    return (
        m.pick(".env.default", ".env.prod", ".env.example"),
        f"PORT=80\nDB_PASSWORD={secret}\n",
        secret,
    )


def _secrets_yaml(m: Maker) -> Made:
    secret = m.password()
    return m.pick("secrets.prod.yaml", "prod-secrets.yml"), f"database: {secret}\n", secret


def _code_password(m: Maker) -> Made:
    secret = m.password()
    path, text = m.random.choice(
        [
            ("connect.py", f'connect(host="db", user="app", password="{secret}")\n'),
            ("Main.java", f'private static final String PASSWORD = "{secret}";\n'),
            ("main.go", f'dbPassword := "{secret}"\n'),
            ("db.php", f"define('DB_PASSWORD', '{secret}');\n"),
            (
                "Startup.cs",
                f'var c = "Server=db;User Id=sa;Password={secret.replace("=", "")};";\n',
            ),
        ]
    )
    return path, text, secret.replace("=", "") if path == "Startup.cs" else secret


def _bearer(m: Maker) -> Made:
    secret = m.string(40)
    text = m.pick(
        f'curl -H "Authorization: Bearer {secret}" https://api.example/\n',
        f'curl -H "X-Api-Key: {secret}" https://api.example/\n',
        f"curl 'https://api.example/?access_token={secret}&page=2'\n",
    )
    return "call.sh", text, secret


FORMATS: dict[str, Callable[[Maker], Made]] = {
    make.__name__.strip("_"): make
    for make in (
        _aws_id,
        _aws_secret,
        _github,
        _gitlab,
        _jwt,
        _dsn,
        _slack,
        _slack_webhook,
        _google,
        _stripe,
        _openai,
        _anthropic,
        _django,
        _secret_key,
        _yaml,
        _compose,
        _dockerfile,
        _properties,
        _kubernetes,
        _kubernetes_env,
        _tfvars,
        _service_account,
        _npm,
        _pem,
        _pem_in_large_file,
        _ssh_copy,
        _env_default,
        _secrets_yaml,
        _code_password,
        _bearer,
    )
}


def planted(seed: int = SEED, each: int = EACH) -> Iterator[Planted]:
    """The corpus: so many files of every format, in a folder of their own each."""
    maker = Maker(seed)
    for name, make in FORMATS.items():
        for number in range(each):
            path, text, secret = make(maker)
            yield Planted(name, f"{name}/{number}/{path}", text, secret)
