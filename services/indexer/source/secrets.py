"""Recognises files that hold secrets: they are never indexed, even where git tracks them."""

import re
from fnmatch import fnmatchcase

# Key files are short; a larger file with a key in it is a program or a log.
MAX_SCANNED_BYTES = 65_536

_NAMES = frozenset(
    (
        ".env .envrc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk .netrc _netrc "
        ".htpasswd .pgpass .my.cnf .git-credentials .dockercfg .s3cfg .boto credentials.json "
        "client_secret.json client_secrets.json service-account.json service_account.json "
        "serviceaccount.json kubeconfig secrets.yml secrets.yaml secrets.json secrets.toml "
        "secring.gpg .vault-token .vault_pass vault_pass.txt .terraformrc terraform.rc"
    ).split()
)
_PATTERNS = tuple(
    (
        ".env.* .env-* *.env *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.kdb *.ppk *.asc.key "
        "*.p8 *.agekey *.ovpn *.keytab *.tfstate *.tfstate.backup *.kubeconfig "
        "client_secret_*.json *service-account*.json *service_account*.json"
    ).split()
)
_PATHS = ("/.aws/credentials", "/.kube/config", "/.docker/config.json", "/.ssh/config")
# `.env.example` and the like list names without values.
_EXAMPLE = re.compile(r"(?:^|[._-])(?:example|sample|template|tmpl|tpl|dist|defaults?|schema)\b")
_TOKEN_FILES = {
    ".npmrc": re.compile(rb"_authToken\s*=\s*[^$\s]|_password\s*=|_auth\s*=", re.IGNORECASE),
    ".yarnrc.yml": re.compile(rb"npmAuthToken\s*:\s*[^$\s]|npmAuthIdent\s*:", re.IGNORECASE),
    ".pypirc": re.compile(rb"password\s*[=:]", re.IGNORECASE),
    "pip.conf": re.compile(rb"://[^/\s:@]+:[^/\s@]+@"),
    "nuget.config": re.compile(rb"ClearTextPassword|<add key=\"Password\"", re.IGNORECASE),
}
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s)+"
    rb"(?:[\w-]+: [^\n]*\n|\s)*[A-Za-z0-9+/=]{16}"
)
_KUBE_CREDENTIALS = re.compile(rb"^\s*(?:client-key-data|token|password):\s*\S", re.MULTILINE)


def is_secret_name(path: str) -> bool:
    """Whether the name of a file alone marks it as secret."""
    name = path.rsplit("/", 1)[-1].lower()
    if _EXAMPLE.search(name):
        return False
    return (
        name in _NAMES
        or any(fnmatchcase(name, pattern) for pattern in _PATTERNS)
        or f"/{path.lower()}".endswith(_PATHS)
    )


def is_secret_content(path: str, content: bytes) -> bool:
    """Whether a small file holds a private key, or a token that files of its name may hold."""
    name = path.rsplit("/", 1)[-1].lower()
    if name.endswith(".pem") and b"PRIVATE KEY-----" in content:
        return True
    if len(content) > MAX_SCANNED_BYTES:
        return False
    if (tokens := _TOKEN_FILES.get(name)) and tokens.search(content):
        return True
    if b"PRIVATE KEY" in content and _PRIVATE_KEY.search(content):
        return True
    return b"kind: Config" in content and _KUBE_CREDENTIALS.search(content) is not None
