"""How a client starts mcp-remote, which carries its messages to an address.

No argument has a space: some clients split it there. So `Bearer ` comes from the environment, and
mcp-remote fills in each `${NAME}` itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

OPTIONS = {"http": "http-only", "sse": "sse-only"}
HEADER, SCHEME = "AUTH_HEADER", "AUTH_SCHEME"


@dataclass(frozen=True)
class Token:
    """A variable that has a bearer token, and how the client writes it inside `env`.

    `reference` is None where the client takes values of `env` as they are.
    """

    variable: str
    reference: str | None


def words(
    url: str, transport: str, headers: Mapping[str, str], token: Token | None = None
) -> list[str]:
    """Return the words of the call."""
    called = ["npx", "-y", "mcp-remote", url, "--transport", OPTIONS[transport], "--allow-http"]
    for name, value in headers.items():
        called += ["--header", f"{name}:{value}"]
    return called if token is None else [*called, "--header", f"Authorization:{_value(token)}"]


def variables(token: Token | None) -> dict[str, str]:
    """Return the environment that the call needs."""
    if token is None:
        return {}
    if token.reference is None:
        return {SCHEME: "Bearer "}
    return {HEADER: f"Bearer {token.reference}"}


def _value(token: Token) -> str:
    if token.reference is None:
        return f"${{{SCHEME}}}${{{token.variable}}}"
    return f"${{{HEADER}}}"
