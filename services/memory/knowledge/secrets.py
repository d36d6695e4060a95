"""Find text that looks like a secret: public entries go to everybody who has the repository."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MIN_SECRET_LENGTH = 8  # of a value that is assigned to a name such as `password`
MIN_ENTROPY = 2.7  # bits a character: words and repeated letters have less than random ones

_TOKENS: Sequence[tuple[str, re.Pattern[str]]] = [
    (what, re.compile(pattern))
    for what, pattern in [
        ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b"),
        ("a GitLab token", r"\bglpat-[\w-]{20,}"),
        ("a Slack token", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("a payment key", r"\b[sr]k_live_[0-9A-Za-z]{16,}\b"),
        ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        ("an API key", r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}"),
        ("a package registry token", r"\bnpm_[A-Za-z0-9]{36}\b|\bpypi-AgE[\w-]{40,}"),
        ("a mail service key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("a signed token", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
        ("a bearer token", r"(?i)\bbearer\s+(?=\S*\d)[A-Za-z0-9._~+/-]{20,}=*"),
    ]
]
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<value>[^\s/@]+)@", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"""\b[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|
    private[_-]?key|credential)s?\b["'`*]*\s*(?::=|=>|[:=])\s*["'`]?(?P<value>[^\s"'`,;)]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_PLACEHOLDER = re.compile(
    r"[<{$%(\[]|\*{3}|\.\.\.|…|x{4}|example|sample|change.?me|placeholder|redacted|dummy|your[_-]|"
    r"\benv\b|environ|getenv|process\.",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Secret:
    """Where a text holds what looks like a secret, and of which sort; never the secret itself."""

    line: int
    what: str


def find_secret(text: str) -> Secret | None:
    """The first secret of a text, None if it has none."""
    for number, line in enumerate(text.splitlines(), 1):
        if what := _kind(line):
            return Secret(number, what)
    return None


def _kind(line: str) -> str | None:
    for what, pattern in _TOKENS:
        if (found := pattern.search(line)) and not _PLACEHOLDER.search(found[0]):
            return what
    for what, pattern in (
        ("a URL with a password", _URL_PASSWORD),
        ("a password or key", _ASSIGNED),
    ):
        if any(_is_random(found["value"], what) for found in pattern.finditer(line)):
            return what
    return None


def _is_random(value: str, what: str) -> bool:
    """Whether a value is one, and not the name of one or a word about it."""
    if _PLACEHOLDER.search(value):
        return False
    if what.startswith("a URL"):
        return True
    has_both = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    return bool(has_both) and len(value) >= MIN_SECRET_LENGTH and _entropy(value) >= MIN_ENTROPY


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
