"""Values of names that say secret: `db_password = "x7…"`, ` --token q8…`, `ENV API_KEY q8…`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctx_core.secrets.filenames import FileKind
from ctx_core.secrets.values import Secret, Strength, is_secret_value

# Words that names of secrets hold, found by `bytes.find`: an expression takes ten times as long.
_PASSWORD_WORDS = (b"pass", b"pwd", b"identified by", b"securestring")
_SECRET_WORDS = (b"secret", b"token", b"credential", b"auth", b"key")
# `pass` ends a name or begins a longer word for it: `dbpass`; not `passed`, `bypass`.
_PASSWORD = re.compile(
    r"pass(?:word|wd|phrase|code)|(?<!by)(?<!com)(?<!sur)(?<!tres)(?<!over)pass(?![a-z])",
    re.IGNORECASE,
)
# The word before a secret key: `api_key`, `signing-key`; not `primary_key`.
_KEY_OF = re.compile(
    r"(?:api|app|access|secret|private|encryption|encrypt|signing|sign|auth|account|master|shared|"
    r"storage|jwt|hmac|aes|consumer|client|admin|service|deploy|license|subscription|webhook|"
    r"server|ssh|crypt|cipher|integration|functions|fernet)[-_. ]?$",
    re.IGNORECASE,
)
# Constants for keys that are no secrets: `PUBLIC_KEY`, `SORT_KEY`.
_NO_SECRET_KEY = re.compile(r"(?:PUBLIC|PUBLISHABLE|PRIMARY|FOREIGN|SORT|CACHE|PARTITION)_$")
_KEY_OF_CHARS = 16  # before `key`
# The rest of a name after its word: `_prod` of `password_prod`. Where it says that the value is the
# name, place or kind of a secret, the value is none: `password_file`, `token_type`, `secretName`.
_REST_OF_NAME = re.compile(r"[\w.-]{0,40}")
_HARMLESS_REST = re.compile(
    r"[-_.]?(?:name|file|path|url|uri|field|header|type|length|len|min|max|policy|hint|label|"
    r"prompt|placeholder|title|text|message|msg|error|help|regex|pattern|validat\w*|reset|hash\w*|fallback\w*|"
    r"expir\w*|ttl|count|limit|class|format|algo\w*|method|mode|provider|endpoint|param\w*|ref|"
    r"arn|iz\w*|s|ids?|input|icon|schema|scheme|strategy|options?|config|settings?|store|manager|"
    r"service|handler|factory|prefix|suffix|source|location|version|usage|budget|change\w*|"
    r"confirm\w*)(?![a-z])",
    re.IGNORECASE,
)
# Between a name and its value: a sign, also after a type (`token: str = `), the end of an XML tag
# (`<password>`), the key of the value in a list of pairs (`name: TOKEN`, `value: `), or the default
# of a Terraform variable (`variable "token" { default = `).
_ASSIGNED = re.compile(
    r"""["'\]`)]{0,3}(?:
      [ \t]{0,20}(?:
          (?::[ \t]{0,4}[&\w.\[\]?]{1,30}(?:[ \t]{1,4}|(?==["']))|[ ]\w{1,20}[ ]{1,4})=(?!=)
          |=>|:=|[=!]=?=?|\?\?=?|\|\|=?|:|<-
      )[ \t]{0,40}
      |(?<=\w)>
      |,?\s{1,80}["']?[Vv]alue["']?[ \t]{0,4}[:=][ \t]{0,4}
      |[ \t](?:is|was)[ \t]
      |[ \t]?\{[^{}]{0,300}?\bdefault[ \t]{0,20}=[ \t]{0,20}
    )""",
    re.VERBOSE,
)
# Between a name and its value where this is quoted: `getenv("TOKEN", "…")`, `PASSWORD '…'`.
_ARGUMENT = re.compile(
    r"""["']?(?:,[ \t]{0,8}(?:default[ \t]?=[ \t]?)?|\([ \t]?|[ \t]{1,4})(?=["'])"""
)
_SPACE = re.compile(r"[ \t]{1,20}(?=[^\s=:])")
_QUOTED = re.compile(
    r"""[a-zA-Z@$]{0,2}(?:"((?:[^"\\\n]|\\.){1,2000})"|'((?:[^'\\\n]|\\.){1,2000})')"""
)
_BARE = re.compile(r"[^\s\"'`<>]{5,2000}")
_PART = re.compile(r"[^\s\"'`<>&;,]{5,2000}")  # of a string that holds several values
# Before a name whose bare value is a literal, also in code: in a Dockerfile (`ENV TOKEN=`), on a
# command line (`--token=`), in a connection string (`;Password=`) or a query string (`&token=`).
_COMMAND = re.compile(r"(?:(?:^|\n)[ \t]*(?:ENV|ARG)[ \t]+|[ \t]--)[\w.-]{0,40}$")
_PART_BEFORE = re.compile(r"[;?&][\w .-]{0,40}$")
_LINE_START = re.compile(r"(?:^|\n)[\w.-]{0,40}$")
_BEFORE_CHARS = 80


class _Name(NamedTuple):
    """The span of the telling word of a name, and whether it is one for a password.

    `db_password_prod` → of `password`, true.
    """

    start: int
    end: int
    password: bool


def find_assigned(text: str, ascii_text: bytes, kind: FileKind) -> Iterator[Secret]:
    """Find the values of names such as `password` and `api_key`.

    `db_password = "x7Gq2LpW"` → `x7Gq2LpW`; `password_file = "a1.txt"`, `password = read()` → none.
    """
    lower = ascii_text.lower()
    for word in _PASSWORD_WORDS + _SECRET_WORDS:
        password = word in _PASSWORD_WORDS
        at = lower.find(word)
        while at >= 0:
            end = _word_end(text, at, word)
            if end and not _HARMLESS_REST.match(text, end):
                name = _Name(at, end, password=password)
                if span := _value_span(text, name, kind):
                    yield Secret(*span, "password" if password else "secret")
            at = lower.find(word, at + len(word))


def _word_end(text: str, at: int, word: bytes) -> int:
    """Return the end of the word; 0 where its name is no secret's.

    `pass` of `passwd` → the end of `passwd`, of `bypass` → 0; `key` of `api_key` → its end, of
    `monkey` → 0.
    """
    end = at + len(word)
    match word:
        case b"pass":
            found = _PASSWORD.match(text, at)
            return found.end() if found else 0
        case b"key":
            return end if _is_secret_key(text, at) else 0
        case b"auth":
            return end if text[at - 1 : at] == "_" and not text[end : end + 1].isalpha() else 0
        case b"pwd":
            return 0 if text[at - 1 : at] in ("(", "`") else end  # the command, not a name
        case _:
            return end


def _is_secret_key(text: str, at: int) -> bool:
    """Whether a key's name says that it is secret: `api_key`, `STRIPE_KEY`; not `primary_key`.

    Of constants any name counts, such as that of a service, but `PUBLIC_KEY` and its like.
    """
    start = max(0, at - _KEY_OF_CHARS)
    if _KEY_OF.search(text, start, at):
        return True
    constant = text[at - 1 : at] == "_" and text[at : at + 3] == "KEY"
    return constant and not _NO_SECRET_KEY.search(text, start, at)


def _value_span(text: str, name: _Name, kind: FileKind) -> tuple[int, int] | None:
    """Return the span of a name's secret: after a sign, as an argument, or as the next word.

    `token = "q8…"`, `getenv("TOKEN", "q8…")`, `ctx --token q8…` → of `q8…`.
    """
    rest = _REST_OF_NAME.match(text, name.end)
    end = rest.end() if rest else name.end
    if sign := _ASSIGNED.match(text, end):
        return _assigned_span(text, name, sign, kind)
    if argument := _ARGUMENT.match(text, end):
        strength = _strength(name, literal=kind is FileKind.CONFIG)
        return _span(_QUOTED.match(text, argument.end()), strength)
    if (space := _SPACE.match(text, end)) and _takes_word(text, name, kind):
        return _span(_BARE.match(text, space.end()), Strength.PASSWORD)
    return None


def _assigned_span(
    text: str, name: _Name, sign: re.Match[str], kind: FileKind
) -> tuple[int, int] | None:
    """Return the span of a value after a sign, where it is strong enough for its place.

    It is a literal in quotes, in configuration, of a variable (`TOKEN=x7Gq2LpW`) and as a part
    (`&token=x7Gq2LpW`). Else it may be an expression: it must be BARE, of a password PROSE.
    """
    equals = sign.group().strip("\"'") == "="
    is_part = equals and _stands_after(_PART_BEFORE, text, name)
    is_variable = equals and text[name.start : sign.start()].isupper()
    literal = is_part or is_variable or kind is FileKind.CONFIG
    literal = literal or _stands_after(_COMMAND, text, name)
    strength = _strength(name, literal=literal)
    if quoted := _QUOTED.match(text, sign.end()):
        return _span(quoted, strength)
    if not literal:
        strength = Strength.PROSE if kind is FileKind.PROSE and name.password else Strength.BARE
    return _span((_PART if is_part else _BARE).match(text, sign.end()), strength)


def _takes_word(text: str, name: _Name, kind: FileKind) -> bool:
    """Whether the next word is the value: `--token …`, `ENV PASSWORD …`, `requirepass …`."""
    at_start = kind is FileKind.CONFIG and _stands_after(_LINE_START, text, name)
    return at_start or _stands_after(_COMMAND, text, name)


def _stands_after(pattern: re.Pattern[str], text: str, name: _Name) -> bool:
    return pattern.search(text, max(0, name.start - _BEFORE_CHARS), name.start) is not None


def _strength(name: _Name, *, literal: bool) -> Strength:
    """Return how strong a value must be: less for a password, less where it is a literal."""
    if name.password:
        return Strength.WEAK if literal else Strength.PASSWORD
    return Strength.PASSWORD if literal else Strength.RANDOM


def _span(found: re.Match[str] | None, strength: Strength) -> tuple[int, int] | None:
    """Return the span of a secret, without quotes and punctuation: `x7Gq2LpW).` → `x7Gq2LpW`."""
    if found is None:
        return None
    group = found.lastindex or 0
    start = found.start(group)
    value = found[group] if group else found[group].rstrip(".,;):]}\\")
    return (start, start + len(value)) if is_secret_value(value, strength) else None
