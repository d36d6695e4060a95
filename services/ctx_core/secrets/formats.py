"""Tokens with a format of their own, anywhere: `ghp_` and 36 characters, `AKIA` and 16."""

import base64
import binascii
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from ctx_core.secrets.values import Secret, Strength, is_placeholder, is_secret_value

AWS_KEY = "AWS access key"

# Nearly every token is a run of these characters; one pass finds all runs, so that a further format
# costs nothing. The pass is a search for so many equal bytes in the text with each of these
# characters written as `a`: five times as fast as an expression.
_RUN_CHARACTERS = (string.ascii_letters + string.digits + "_-").encode()
_AS_RUN = bytes(ord("a") if byte in _RUN_CHARACTERS else ord(" ") for byte in range(256))
_DIGIT = re.compile("[0-9]")
_SHORTEST_RUN = 20  # an AWS key's id

# Kind → patterns of tokens that lie within one run. None has anything after an unbounded repeat:
# each is linear in the text.
_WITHIN_RUN = {
    AWS_KEY: [r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])", r"A3T[A-Z0-9]{17}"],
    "GitHub token": [r"gh[pousr]_[A-Za-z0-9]{30,}", r"github_pat_[A-Za-z0-9_]{22,}"],
    "GitLab token": [
        r"gl(?:pat|dt|ft|soat|rt|cbt|ptt|imt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}",
        r"GR1348941[A-Za-z0-9_-]{20,}",
    ],
    "Slack token": [r"xox[a-z]-[A-Za-z0-9-]{10,}", r"xapp-[0-9]-[A-Za-z0-9-]{10,}"],
    "Google API key": [r"AIza[A-Za-z0-9_-]{35}", r"GOCSPX-[A-Za-z0-9_-]{20,}"],
    "Stripe key": [r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}", r"whsec_[A-Za-z0-9]{24,}"],
    "Anthropic key": [r"sk-ant-[A-Za-z0-9_-]{16,}"],
    "OpenAI key": [r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}", r"sk-[A-Za-z0-9]{20,}"],
    "OpenRouter key": [r"sk-or-[A-Za-z0-9_-]{20,}"],
    "npm token": [r"npm_[A-Za-z0-9]{30,}"],
    "PyPI token": [r"pypi-[A-Za-z0-9_-]{50,}"],
    "RubyGems token": [r"rubygems_[a-f0-9]{40,}"],
    "Hugging Face token": [r"(?:hf|api_org)_[A-Za-z0-9]{30,}"],
    "DigitalOcean token": [r"do[opr]_v1_[a-f0-9]{40,}"],
    "Docker token": [r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"],
    "Shopify token": [r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"],
    "Square token": [r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}", r"EAAA[A-Za-z0-9_-]{56,}"],
    "Facebook token": [r"EAAC[A-Za-z0-9]{60,}"],
    "Twilio key": [r"SK[a-f0-9]{32}(?![A-Za-z0-9])"],
    "Mailgun key": [r"key-[a-f0-9]{32}(?![A-Za-z0-9])"],
    "Mailchimp key": [r"[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"],
    "Databricks token": [r"dapi[a-f0-9]{32}"],
    "Linear token": [r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"],
    "Notion token": [r"ntn_[A-Za-z0-9]{40,}", r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"],
    "Postman key": [r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"],
    "New Relic key": [r"NR(?:AK|JS|II|RA|SP)-[A-Za-z0-9_-]{19,}"],
    "Grafana token": [r"gl(?:sa|c)_[A-Za-z0-9_]{32,}"],
    "Sentry token": [r"sntry[su]_[A-Za-z0-9_-]{40,}"],
    "Atlassian token": [r"ATATT3[A-Za-z0-9_-]{40,}", r"ATBB[A-Za-z0-9]{28,}"],
    "Artifactory token": [r"AKCp[A-Za-z0-9]{60,}"],
    "Pulumi token": [r"pul-[a-f0-9]{40}"],
    "PlanetScale token": [r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_-]{32,}"],
    "Supabase token": [r"sbp_[a-f0-9]{40}", r"sb_secret_[A-Za-z0-9_-]{20,}"],
    "Replicate token": [r"r8_[A-Za-z0-9]{37,}"],
    "Groq key": [r"gsk_[A-Za-z0-9]{40,}"],
    "xAI key": [r"xai-[A-Za-z0-9]{40,}"],
    "Perplexity key": [r"pplx-[A-Za-z0-9]{40,}"],
    "Fly token": [r"fo1_[A-Za-z0-9_-]{40,}"],
    "Heroku key": [r"HRKU-[A-Za-z0-9_-]{30,}"],
    "Netlify token": [r"nf[pcoub]_[A-Za-z0-9]{36,}"],
    "age key": [r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"],
    "Telegram token": [r"(?<=[0-9]{8}:)AA[A-Za-z0-9_-]{30,}"],
    "Google OAuth token": [r"(?<=ya29\.)[A-Za-z0-9_-]{20,}", r"(?<=1//)0[A-Za-z0-9_-]{20,}"],
    "Vault token": [r"(?<=hv[sbr]\.)[A-Za-z0-9_-]{20,}"],
    "Terraform token": [r"(?<=\.atlasv1\.)[A-Za-z0-9_-]{60,}"],
    "Doppler token": [r"(?<=dp\.(?:pt|st|ct|sa)\.)[A-Za-z0-9_-]{40,}"],
    "SendGrid key": [r"(?<=SG\.)[A-Za-z0-9_-]{16,}"],
    "Dropbox token": [r"(?<=sl\.)[A-Za-z0-9_-]{130,}"],
}
# Kind → pattern of tokens of several runs with dots between them: `eyJhbGci….eyJzdWIi….SflKxw`.
_DOTTED = {
    "JWT": r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    "Discord token": r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}",
}
# The rest of a token after a dot: `SG.` and two runs with a dot between them are one token.
_REST = re.compile(r"(?:\.[A-Za-z0-9_-]{10,})*")


def _alternatives(patterns: dict[str, list[str]]) -> tuple[re.Pattern[str], list[str]]:
    """Join all formats into one expression; return it and the kind of each of its groups.

    `{"a": ["x", "y"], "b": ["z"]}` → `(x|y)|(z)` and `["", "a", "b"]`: groups count from 1.
    """
    each = ("|".join(alternatives) for alternatives in patterns.values())
    expression = "(?<![A-Za-z0-9])(?:" + "|".join(f"({pattern})" for pattern in each) + ")"
    return re.compile(expression), ["", *patterns]


_TOKEN, _TOKEN_KINDS = _alternatives(_WITHIN_RUN)
_DOTTED_TOKEN, _DOTTED_KINDS = _alternatives({kind: [p] for kind, p in _DOTTED.items()})


class _Marked(NamedTuple):
    """A rule for secrets that follow a literal: the pattern's group, where it has the strength.

    `hooks.slack.com/` and `services/T00/B00/…` → `services/T00/B00/…`, a Slack webhook.
    """

    kind: str
    literal: str
    pattern: re.Pattern[str]
    strength: Strength | None = None


_MARKED = (
    _Marked("Slack webhook", "hooks.slack.com/", re.compile(r"([a-z]+/[A-Za-z0-9_/+-]{20,})")),
    _Marked("Discord webhook", "/api/webhooks/", re.compile(r"([0-9]{15,20}/[A-Za-z0-9_-]{30,})")),
    _Marked("Teams webhook", "webhook.office.com/", re.compile(r"(webhookb2/[A-Za-z0-9@/-]{40,})")),
    _Marked("Azure signature", "sig=", re.compile(r"([A-Za-z0-9%/+]{32,}={0,2})")),
    _Marked("Basic credentials", "asic ", re.compile(r"([A-Za-z0-9+/]{12,200}={0,2})")),
    _Marked("token", "earer ", re.compile(r"([A-Za-z0-9_.~+/-]{16,})"), Strength.BARE),
    # `curl -u user:password`
    _Marked(
        "password", " -u ", re.compile(r"[\"']?[\w.@-]{1,60}:([^\s\"']{5,200})"), Strength.PASSWORD
    ),
)
# `user:password@host`, after the `://` of a URL.
_URL_PASSWORD = re.compile(r"[^\s/:@\"'<>`]{0,100}:([^\s/\"'<>`]{1,200})@[\w.\[({$%-]")
# The secret half of an AWS key pair, which has no prefix of its own.
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_DISTANCE = 300  # characters after the key's id


def find_tokens(text: str, ascii_text: bytes) -> Iterator[Secret]:
    """Find tokens of known formats; `ascii_text` has one byte for each character of the text.

    `export T=npm_` and 36 characters → the token from `npm_` on, an npm token.
    """
    for start, end in _runs(ascii_text):
        if ascii_text[end : end + 1] == b"." and (dotted := _DOTTED_TOKEN.match(text, start)):
            yield Secret(start, _whole(text, dotted.end()), _DOTTED_KINDS[dotted.lastindex or 0])
            continue
        at = start if _may_be_token(text[start:end]) else end
        while at < end and (token := _TOKEN.search(text, at, end)):
            at = _whole(text, end) if token.end() == end else token.end()
            kind = _TOKEN_KINDS[token.lastindex or 0]
            yield Secret(token.start(), at, kind)
            if kind == AWS_KEY:
                yield from _aws_secrets(text, at)


def _may_be_token(run: str) -> bool:
    """Whether a run may be a token: `ghp_1a2b…`, `AKIAXX…`; not `some_long_function_name`.

    Most runs are names, and this leaves them out before an expression is asked.
    """
    return _DIGIT.search(run) is not None or run.isupper()


def _runs(ascii_text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of letters, digits, `_` and `-` that are as long as the shortest token."""
    marked = ascii_text.translate(_AS_RUN)
    shortest = b"a" * _SHORTEST_RUN
    start = marked.find(shortest)
    while start >= 0:
        end = marked.find(b" ", start)
        end = len(marked) if end < 0 else end
        yield start, end
        start = marked.find(shortest, end)


def _whole(text: str, end: int) -> int:
    """Return the end of a token that goes on after a dot: of `SG.abc….def…` after `def…`."""
    rest = _REST.match(text, end)
    return rest.end() if rest else end


def _aws_secrets(text: str, start: int) -> Iterator[Secret]:
    """Find the secret half of an AWS key, 40 characters, soon after its id: `AKIA…` `wJal…`."""
    for found in _AWS_SECRET.finditer(text, start, start + _AWS_DISTANCE):
        value = found.group()
        if any(map(str.isdigit, value)) and value.lower() != value:
            yield Secret(*found.span(), "AWS secret key")


def find_marked(text: str) -> Iterator[Secret]:
    """Find secrets by the literal before them: `Authorization: Bearer x7Gq…` → `x7Gq…`."""
    for kind, literal, pattern, strength in _MARKED:
        at = text.find(literal)
        while at >= 0:
            at += len(literal)
            if found := pattern.match(text, at):
                if _holds(kind, found[1], strength):
                    yield Secret(*found.span(1), kind)
                at = found.end()
            at = text.find(literal, at)


def _holds(kind: str, value: str, strength: Strength | None) -> bool:
    if kind == "Basic credentials":
        return _is_basic(value)
    return strength is None or is_secret_value(value, strength)


def _is_basic(value: str) -> bool:
    """Whether base64 holds user and password: `YWRtaW46eDdHcTJMcFc=` → `admin:x7Gq2LpW`, yes."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    user, colon, password = decoded.partition(b":")
    printable = decoded.isascii() and decoded.decode().isprintable()
    return bool(user and colon) and printable and not is_placeholder(password.decode())


def find_url_passwords(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of passwords in URLs: `https://ann:x7Gq2LpW@host` → of `x7Gq2LpW`."""
    at = text.find("://")
    while at >= 0:
        if found := _URL_PASSWORD.match(text, at + 3):
            yield found.span(1)
        at = text.find("://", at + 3)
