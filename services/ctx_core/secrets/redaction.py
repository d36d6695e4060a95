"""Find the secrets of a text, and take them out.

`password = "hunter2x!"` → `password = "[redacted: password]"`
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ctx_core.secrets.assignments import find_assigned
from ctx_core.secrets.blocks import find_kubernetes, find_private_keys, find_web_keys
from ctx_core.secrets.filenames import file_kind
from ctx_core.secrets.formats import find_marked, find_tokens, find_url_passwords
from ctx_core.secrets.values import Secret, is_placeholder

MARK = "[redacted: {}]"
_LINE_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Redaction:
    """A text without its secrets, and how many of each kind it had."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)


def find_secrets(text: str, path: str = "") -> list[Secret]:
    """Return every secret of a text in order, none overlapping.

    `path` tells configuration from code: in `app.yaml` the value of `token: x7Gq2LpW` is a literal,
    in `app.py` it is an expression.
    """
    ascii_text = text.encode("ascii", "replace")  # a byte a character: quicker to look through
    found = [
        *find_private_keys(text),
        *find_kubernetes(text),
        *find_web_keys(text),
        *find_tokens(text, ascii_text),
        *find_marked(text),
        *_url_passwords(text),
        *find_assigned(text, ascii_text, file_kind(path)),
    ]
    return _disjoint(found)


def redact(text: str, path: str = "") -> Redaction:
    """Replace each secret by its mark; every line keeps its number.

    A private key of five lines → `[redacted: private key]` and four line ends.
    """
    found = find_secrets(text, path)
    if not found:
        return Redaction(text)
    parts: list[str] = []
    at = 0
    for secret in found:
        parts += [text[at : secret.start], MARK.format(secret.kind)]
        parts += _LINE_ENDS.findall(text, secret.start, secret.end)
        at = secret.end
    parts.append(text[at:])
    return Redaction("".join(parts), Counter(secret.kind for secret in found))


def _url_passwords(text: str) -> Iterable[Secret]:
    """Find passwords in URLs: `postgres://app:x7Gq2LpW@db` → `x7Gq2LpW`, not `://app:$PASS@db`."""
    for start, end in find_url_passwords(text):
        if not is_placeholder(text[start:end]):
            yield Secret(start, end, "password in a URL")


def _disjoint(found: list[Secret]) -> list[Secret]:
    """Join secrets that overlap: (0, 10, "JWT") and (5, 12, "secret") → (0, 12, "JWT").

    The kind is that of the secret that starts first; of two that start at one place, that of the
    rule that `find_secrets` asks first.
    """
    result: list[Secret] = []
    for secret in sorted(found, key=lambda each: each.start):
        if result and secret.start < result[-1].end:
            last = result[-1]
            result[-1] = last._replace(end=max(last.end, secret.end))
        else:
            result.append(secret)
    return result
