"""Tell secrets from placeholders, references and words.

After `password =`: `x7Gq2LpW` is a secret; `changeme`, `${PASSWORD}` and `user_name` are none.
"""

import math
import re
from collections import Counter
from enum import Enum
from typing import NamedTuple

MIN_WEAK, MIN_PASSWORD, MIN_RANDOM, MIN_BARE = 5, 8, 10, 16
MAX_LENGTH = 2_000  # characters; a longer value is data
RANDOM_BITS = 3.0  # bits of entropy a character; English words have about 2.5 in so short a text
# A long value is not called a placeholder for a word in it: random letters may spell one.
LONG = 28
# Fewer different characters than this are a filling: `xxxxxxxx`, `********`, `00000000`.
FEW_CHARACTERS = 5

# Words that stand where a secret would: `change-me`, `your-token-here`, `my-password`.
_PLACEHOLDER = re.compile(
    r"example|change[-_]?(?:me|it|this)|replace|placeholder|dummy|redacted|your|(?:^|[-_.])my[-_]|insert|"
    r"enter|fixme|todo|xxxx|\.\.\.|…|foobar|fake|secret[-_]?here|here$|sample|undefined|"
    r"not[-_]?(?:a|real|set|used)|none$|null$|n/a$"
)
# The beginning of a reference: `${TOKEN}`, `{{ token }}`, `%s`, `<token>`, `vault://…`,
# `var.token`, `!Ref Token`, `^1.2.3`, `process.env`.
_REFERENCE = re.compile(
    r"\$[({\w]|%[({]|%\w+%|\{\{|<[\w /.:$-]{1,80}>|#\{|\{[\w.:\[\]()'\"!]{0,60}\}|%[sdv]\b|@@|"
    r"__\w+__|(?:ref|arn|vault|env|op|file|secret|secrets|ssm|sm|keyring|awskms|gcpkms|https?|s3|gs|data|"
    r"urn|kv)://?|arn:|!(?:Ref|Sub|GetAtt|vault|secret|env|reference|include|Import)|"
    r"(?:var|local|module|each|self|this|config|settings)\.\w|"
    r"[~^<>=v]{0,2}[0-9]+\.[0-9]+|env\(|ENC\[|process\.env|os\.environ|\$$"
)
# A field that is filled in later, after its name: `password='%s'`, `Bearer={token}`.
_TEMPLATE = re.compile(r"[\w -]+[=:] ?['\"]?(?:%[sdv]|%\(\w+\)[sd]|\{\w*\})['\"]?;?")
_WORDS = frozenset(
    (
        "password passwd pass passphrase pwd secret secrets token key apikey user username root "
        "admin administrator guest test tests testing postgres mysql mariadb mongo redis rabbitmq "
        "default string text hidden true false null none nil required optional disabled enabled "
        "foo bar baz qux changeme letmein hunter login public private empty unset value literal "
        "toor sa passw0rd password1 password123 test123 test1234 abc123 secret123 12345678 "
        "123456789 1234567890 always never inherit auto basic bearer plain"
    ).split()
)
# A part of a name: letters, at most two digits after them (`user`, `v2`).
_NAME_PART = re.compile(r"[A-Za-z]*[0-9]{0,2}")
_HUMP = re.compile(r"[a-z](?=[A-Z])")
LETTERS_PER_HUMP = 3  # words in camelCase have more; random letters change case every other one
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{4,}", re.IGNORECASE)
_SEPARATORS = re.compile(r"[-_./:\\ ,]+")
_CONSTANT = re.compile(r"[\[(]?(?:\w+\.)*[A-Z][A-Z_]*")  # a constant: `settings.API_KEY`
# Code rather than a value: `f(x)`, `a[0]`, `user.name()`, `a->b`, `A::b`, `a && b`.
_CODE = re.compile(r"[()\[\]{};|]|\w\.\w+\(|->|=>|::|&&")


class Secret(NamedTuple):
    """A span of a text, as character offsets, and the kind of the secret there."""

    start: int
    end: int
    kind: str


class Strength(Enum):
    """The likeness to a secret that a value needs: the less its place tells, the more it needs.

    `password: sunrise` in YAML passes as WEAK; `password = sunrise` in code, as BARE, does not.
    """

    WEAK = "no placeholder, number or title: `sunrise`, `a-word`; not `Required`, `12345`"
    PASSWORD = "no word, and no name made of words: `x7Gq2LpW`; not `user_password`"
    RANDOM = "letters and digits in no order: `a81fe09c3d`; not `release-12`"
    PROSE = "a password in ASCII without code in it: `x7Gq2LpW`; not `get(key)`"
    BARE = "random, of 16 characters or more, without code in it: `q83Jd02mNx71Lw4P`"


def is_secret_value(value: str, strength: Strength) -> bool:
    """Whether a value looks like a secret, as far as `strength` asks.

    `x7Gq2LpW` → yes as WEAK and as PASSWORD; no as BARE, which takes 16 characters.
    """
    if not MIN_WEAK <= len(value) <= MAX_LENGTH or is_placeholder(value):
        return False
    match strength:
        case Strength.WEAK:
            return not value.isdigit() and not (value.istitle() and value.isalpha())
        case Strength.PASSWORD:
            return _is_password(value)
        case Strength.PROSE:
            return value.isascii() and _is_password(value) and not _CODE.search(value)
        case Strength.RANDOM:
            return len(value) >= MIN_RANDOM and not _is_name(value) and is_random(value)
        case Strength.BARE:
            return (
                len(value) >= MIN_BARE
                and not _CODE.search(value)
                and not _is_name(value)
                and is_random(value)
            )


def _is_password(value: str) -> bool:
    """Whether a value is no word, name or constant: `x7Gq2LpW`; not `user_name`, `MAX_SIZE`.

    A long name with a digit passes for a passphrase: `correct-horse-battery-9` → yes.
    """
    if len(value) < MIN_PASSWORD or _CONSTANT.fullmatch(value):
        return False
    if not _is_name(value) or _has_all_kinds(value):
        return True
    return len(value) >= MIN_BARE and "/" not in value and any(map(str.isdigit, value))


def _has_all_kinds(value: str) -> bool:
    """Whether a value has small letters, large letters and digits, as rules ask: `Summer2024`."""
    has_digit = any(map(str.isdigit, value))
    return has_digit and value.lower() != value != value.upper()


def is_placeholder(value: str) -> bool:
    """Whether a value only marks the place of a secret, or says where it comes from.

    `changeme`, `xxxxxxxx`, `<your key>`, `${TOKEN}`, `os.environ[…]`, `a sentence` → yes.
    """
    lower = value.lower()
    if lower in _WORDS or len(set(lower)) < FEW_CHARACTERS or _REFERENCE.match(value):
        return True
    if _TEMPLATE.fullmatch(value):
        return True
    if any(character.isspace() for character in value):
        return True  # a sentence
    return len(value) < LONG and _PLACEHOLDER.search(lower) is not None


def is_random(value: str) -> bool:
    """Whether letters and digits mix with little repetition: `a81fe09c3d`, not `aaaa1111`."""
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    mixed = (has_digit and has_letter) or _is_unspeakable(value)
    return mixed and _entropy(value) >= RANDOM_BITS


def _is_unspeakable(value: str) -> bool:
    """Whether letters of both cases have two groups of four consonants: `qWzTbeRmvLpaGfdK`."""
    both = value.upper() != value != value.lower()
    return both and len(value) >= MIN_BARE and len(_CONSONANTS.findall(value)) >= 2


def _is_name(value: str) -> bool:
    """Whether a value is an identifier, path or sentence: `userName2`, `app/config`."""
    if _is_unspeakable(value):
        return False
    parts = _SEPARATORS.split(value)
    humps = len(_HUMP.findall(value))
    return humps * LETTERS_PER_HUMP <= len(value) and all(map(_NAME_PART.fullmatch, parts))


def _entropy(value: str) -> float:
    """Return the bits of a character, by how often each one occurs: `aaaa` → 0, `abcd` → 2."""
    length = len(value)
    counts = Counter(value).values()
    return -sum(count / length * math.log2(count / length) for count in counts)
