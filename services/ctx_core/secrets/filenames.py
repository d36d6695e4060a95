"""Files that hold secrets, by name or beginning, and how the bare values of a file are read."""

import re
from enum import Enum
from fnmatch import fnmatchcase

_NAMES = frozenset(
    (
        ".env .envrc .netrc _netrc .htpasswd .pgpass .my.cnf .mylogin.cnf .git-credentials "
        ".dockercfg .s3cfg .boto .vault-token .vault_pass vault_pass.txt .terraformrc terraform.rc "
        "kubeconfig secring.gpg credentials keyfile.json key.json master.key .htdigest shadow"
    ).split()
)
_PATTERNS = tuple(
    (
        ".env.* .env-* *.env *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.kdb *.ppk *.asc.key "
        "*.p8 *.agekey *.ovpn *.keytab *.tfstate *.tfvars *.tfvars.json *.kubeconfig "
        "client_secret*.json *service-account*.json *service_account*.json serviceaccount*.json "
        "*gcp*key*.json *-key.json *_key.json *.pkcs8 *.pkcs12"
    ).split()
)
# `secrets.prod.yaml`, `prod-credentials.json`; not `secrets.py`, which is code.
_SECRET_WORDS = frozenset("secret secrets credential credentials".split())
_DATA_EXTENSIONS = frozenset(
    "yaml yml json toml ini conf cfg properties txt csv xml enc gpg env".split()
)
_WORD_ENDS = re.compile("[._-]")
_SSH_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?")
_PATHS = ("/.aws/credentials", "/.kube/config", "/.docker/config.json", "/.ssh/config")
# `.env.example` and `secrets.template.yaml` list names to set, without their values.
_EXAMPLE = re.compile(r"(?:^|[._-])(?:example|sample|template|tmpl|tpl|dist|schema)(?:[._-]|$)")
_KEY_FILE = re.compile(rb"\s{0,200}-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----\s")
_KEY_FILE_BYTES = 300
_COPY = re.compile(r"bak|backup|old|orig|save|copy|tmp|swp|[0-9]{1,8}")


class FileKind(Enum):
    """How a value without quotes is read: `token = abc` in `app.ini`, `notes.md`, `app.py`."""

    CONFIG = "the value itself"
    PROSE = "a word of a sentence, or the value itself"
    CODE = "an expression, such as the name of a variable"


_PROSE_EXTENSIONS = frozenset(["", "md", "markdown", "mdx", "rst", "adoc", "txt", "log"])
_CONFIG_EXTENSIONS = frozenset(
    (
        "yaml yml json jsonc json5 toml ini cfg conf config cnf properties env xml plist props "
        "tf tfvars hcl dockerfile containerfile service hocon example sample template dist tpl"
    ).split()
)
_CONFIG_NAMES = ("dockerfile", "containerfile", ".env", ".npmrc", ".pypirc", ".yarnrc", "pip.conf")


def is_secret_name(path: str) -> bool:
    """Whether a file's name alone says that it holds secrets.

    `.env`, `id_rsa`, `prod-credentials.json`, `server.key.bak`; not `.env.example`, `id_rsa.pub`.
    """
    name = path.rsplit("/", 1)[-1].lower()
    if _EXAMPLE.search(name) or name.endswith(".pub"):
        return False
    name = _original_name(name) or name
    return (
        name in _NAMES
        or _SSH_KEY.fullmatch(name) is not None
        or _is_secret_data(name)
        or any(fnmatchcase(name, pattern) for pattern in _PATTERNS)
        or f"/{path.lower()}".endswith(_PATHS)
    )


def _is_secret_data(name: str) -> bool:
    """Whether a name is one of data about secrets: `secrets.prod.yaml`, not `secrets.py`."""
    stem, _, extension = name.rpartition(".")
    words = _WORD_ENDS.split(stem)
    return extension in _DATA_EXTENSIONS and not _SECRET_WORDS.isdisjoint(words)


def _original_name(name: str) -> str:
    """Return the name without the endings of copies: `.env.bak`, `.env.1`, `.env~` → `.env`."""
    while True:
        stem, _, ending = name.rpartition(".")
        if name.endswith("~"):
            name = name[:-1]
        elif stem and _COPY.fullmatch(ending):
            name = stem
        else:
            return name


def is_key_file(content: bytes) -> bool:
    """Whether a file begins with a private key, and so is nothing else.

    A key inside of other text is redacted instead: `key = "-----BEGIN PRIVATE KEY-----` → no.
    """
    return _KEY_FILE.match(content[:_KEY_FILE_BYTES]) is not None


def file_kind(path: str) -> FileKind:
    """Tell how bare values are read: `a.yaml` → CONFIG, `a.md`, no name → PROSE, `a.py` → CODE."""
    name = path.rsplit("/", 1)[-1].lower()
    extension = name.rsplit(".", 1)[-1]
    if extension in _CONFIG_EXTENSIONS or name.startswith(_CONFIG_NAMES):
        return FileKind.CONFIG
    return FileKind.PROSE if extension in _PROSE_EXTENSIONS else FileKind.CODE
