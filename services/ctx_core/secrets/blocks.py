"""Secrets of several lines or parts: private keys, Kubernetes Secrets, JSON web keys."""

import re
from collections.abc import Iterator

from ctx_core.secrets.values import Secret

PRIVATE_KEY = "private key"
KUBERNETES = "Kubernetes secret"
_MAX_KEY_CHARS = 32_768  # between BEGIN and END; a key of 16,384 bits has 12,700
_MAX_MARK_CHARS = 200  # more than the line of END has, with the names of the algorithm
_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# The text of a key without its end: lines of base64, in quotes or after `> `.
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s\"'\\,:>|-]|<br>){1,32768}")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{24,}")
_PUTTY = re.compile(r"Private-Lines: ([0-9]{1,4})[ \t]*\r?\n")
_JWK_PART = re.compile(r'"(?:d|p|q|dp|dq|qi|k)"\s{0,20}:\s{0,20}"([A-Za-z0-9_-]{16,2000})"')
_DOCUMENT = re.compile(r"^---(?:\s|$)", re.MULTILINE)
_KIND_SECRET = re.compile(
    r"^[ \t]*+[\"']?kind[\"']?:[ \t]*+[\"']?Secret[\"']?[ \t]*+,?[ \t]*+$", re.MULTILINE
)
_DATA = re.compile(r"([ \t]*+)[\"']?(?:data|stringData)[\"']?:[ \t]*+\{?")
_ITEM = re.compile(r"[ \t]*+[\"']?[\w.-]{1,253}[\"']?:[ \t]*+(.*)")


def find_private_keys(text: str) -> Iterator[Secret]:
    """Find private keys in PEM or OpenPGP armour, also inside strings, also without their end.

    `-----BEGIN PRIVATE KEY-----`, lines of base64, `-----END …` → from the first dash to the last.
    BEGIN in a sentence, without base64 after it, is no key.
    """
    at = text.find("PRIVATE KEY")
    without_end = 0  # no END begins before this place: it is looked through once
    while at >= 0:
        line = max(text.rfind("\n", 0, at) + 1, at - 60)
        begin = _BEGIN.search(text, line, at + 40)
        at += 11
        if begin is None:
            at = text.find("PRIVATE KEY", at)
            continue
        end = _END.search(text, max(begin.end(), without_end), begin.end() + _MAX_KEY_CHARS)
        if end is None:
            without_end = begin.end() + _MAX_KEY_CHARS - _MAX_MARK_CHARS
        body = _KEY_BODY.match(text, begin.end())
        stop = end.start() if end else body.end() if body else begin.end()
        if _KEY_MATERIAL.search(text, begin.end(), stop):
            yield Secret(begin.start(), end.end() if end else stop, PRIVATE_KEY)
        at = text.find("PRIVATE KEY", max(at, stop))
    yield from _putty_keys(text)


def _putty_keys(text: str) -> Iterator[Secret]:
    """Find the private lines of PuTTY's files: `Private-Lines: 14` → the 14 lines after it."""
    at = text.find("Private-Lines: ")
    while at >= 0 and (found := _PUTTY.search(text, at)):
        at = found.end()
        for _ in range(int(found[1])):
            at = text.find("\n", at) + 1 or len(text)
        yield Secret(found.end(), max(found.end(), at - 1), PRIVATE_KEY)


def find_web_keys(text: str) -> Iterator[Secret]:
    """Find the private parts of JSON web keys: `{"kty": "RSA", "n": "…", "d": "…"}` → the "d"."""
    if '"kty"' in text:
        for found in _JWK_PART.finditer(text):
            yield Secret(*found.span(1), PRIVATE_KEY)


def find_kubernetes(text: str) -> Iterator[Secret]:
    """Find the values of Kubernetes Secrets, in YAML or JSON.

    `kind: Secret` and `data:` with `  user: YWRtaW4=` below it → `YWRtaW4=`.
    """
    if "Secret" not in text or "kind" not in text:
        return
    for start, end in _documents(text):
        if _KIND_SECRET.search(text, start, end):
            yield from _data_values(text, start, end)


def _documents(text: str) -> Iterator[tuple[int, int]]:
    """Yield the YAML documents of a text: `a: 1`, `---`, `b: 2` → two."""
    start = 0
    for mark in _DOCUMENT.finditer(text):
        yield start, mark.start()
        start = mark.end()
    yield start, len(text)


def _data_values(text: str, start: int, end: int) -> Iterator[Secret]:
    """Find the values below `data` and `stringData`, on each line that is indented further."""
    inside: int | None = None  # how far `data` is indented
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        line = text[at:stop].rstrip()
        indent = len(line) - len(line.lstrip())
        if inside is not None and line and indent <= inside:
            inside = None
        if inside is not None and line:
            yield from _item(line, at)
        elif data := _DATA.fullmatch(line):
            inside = len(data[1])
        at = stop + 1


def _item(line: str, at: int) -> Iterator[Secret]:
    """Find the value of a line: `  user: YWRtaW4=` → `YWRtaW4=`, `  YWRtaW4=` → all of it.

    The head of a block (`cert: |`) and a template (`{{ .Values.cert }}`, `$CERT`) are no values.
    """
    item = _ITEM.fullmatch(line)
    start, end = item.span(1) if item else (len(line) - len(line.lstrip()), len(line))
    while end > start and line[end - 1] in "\"',} \t":
        end -= 1
    while start < end and line[start] in "\"'":
        start += 1
    value = line[start:end]
    if value and value[0] not in "|>{" and "{{" not in value and "$" not in value[:1]:
        yield Secret(at + start, at + end, KUBERNETES)
