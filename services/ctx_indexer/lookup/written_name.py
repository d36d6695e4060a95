"""A name as its language writes it: `(*Mux).Route`, `Conn.put/3`, `\\Log\\Logger::add()`."""

import re
from collections.abc import Iterable

_OPERATOR = re.compile(r"\boperator (\W)")  # of C++, where it is written with a space
_SEPARATORS = ("::", "#", "->", "/")
# A name has single spaces before these are applied.
_RECEIVER = re.compile(r"\( ?[*&]? ?([\w.]+) ?\) ?\.")  # of Go: `(*Mux).`
_PARAMETERS = re.compile(r"(?<!operator)\(")  # where they begin; they end the name
_ARITY = re.compile(r"(?<=[\w?!])/\d+$")  # of Elixir and Erlang: `/3`
# Of Rust: `<Cart as Priced>`.
_AS_TRAIT = re.compile(r"< ?([\w:]+)(?:<[^<>]*>)? as [^<>]*(?:<[^<>]*>)? ?>")
_TYPE_ARGUMENTS = re.compile(r"(?<!operator)<[^<>]*>")
_PACKAGE = re.compile(r"(?:namespace|package) ([\w.\\]+) ?;?")
_OWN_PACKAGE = ("crate",)  # words that stand for the package of the caller


def split_name(name: str) -> list[str]:
    """Split a qualified name: `Class.method`, `module::Type`, `Class#method`."""
    name = _OPERATOR.sub(r"operator\1", name)
    for separator in _SEPARATORS:
        name = name.replace(separator, ".")
    return [part for part in name.split(".") if part]


def name_parts(written: str) -> list[str]:
    """Split a name that a caller wrote: `(*Mux).Route(path)` → Mux, Route; `put/3` → put."""
    name = _RECEIVER.sub(r"\1.", " ".join(written.strip().strip("`'\"").split()))
    if name.endswith(")") and (parameters := _PARAMETERS.search(name)):
        name = name[: parameters.start()]
    name = _ARITY.sub("", name).replace("\\", ".")
    parts = [part.strip() for part in split_name(_AS_TRAIT.sub(r"\1", name))]
    return parts[1:] if len(parts) > 1 and parts[0] in _OWN_PACKAGE else parts


def without_type_arguments(written: str) -> str:
    """Return a name without its type arguments: `Query<T>` → `Query`."""
    before = ""
    while before != written:
        before, written = written, _TYPE_ARGUMENTS.sub("", written)
    return written


def declared_package(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of the package or namespace that a file declares for all of its code."""
    for row in rows:
        if found := _PACKAGE.fullmatch(" ".join(row.split())):
            return tuple(split_name(found[1].replace("\\", ".")))
    return ()
