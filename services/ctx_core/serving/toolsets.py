"""Select the tools that a client is offered: by the setting, the URL `/mcp/x/NAME` or headers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctx_core.errors import SettingsInvalid
from ctx_core.serving.service import Service, Tool
from ctx_core.settings import Settings

ALL = "all"
LEAN = "lean"  # the few tools of a server that most tasks need
TOOLSETS_HEADER = "x-mcp-toolsets"
READONLY_HEADER = "x-mcp-readonly"
URL_INFIX = "/x/"  # /mcp/x/NAME
SCOPE_KEY = "ctx.toolset"  # the key of an ASGI scope that has the NAME of the URL
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True)
class Selection:
    """The toolsets that are offered, and whether tools that write are left out."""

    names: frozenset[str]
    read_only: bool

    def admits(self, tool: Tool) -> bool:
        """Whether a tool is offered; read-only beats every toolset."""
        if self.read_only and tool.writes:
            return False
        return self.has(tool.toolset) or (tool.lean and LEAN in self.names)

    def has(self, toolset: str) -> bool:
        """Whether a toolset is offered, with its resources and prompts."""
        return ALL in self.names or toolset in self.names


def configured(settings: Settings) -> Selection:
    """Return the selection that the settings make."""
    return Selection(frozenset(settings.toolsets), settings.read_only)


def choose(
    default: Selection, headers: Mapping[str, str], url_toolset: str | None, known: Iterable[str]
) -> Selection:
    """Select the toolsets of one request: the URL beats the header, the header the default.

    Unknown names in the header are ignored.
    """
    names = default.names
    in_header = _split(headers.get(TOOLSETS_HEADER, ""))
    if url_toolset:
        names = frozenset({url_toolset})
    elif in_header:
        names = in_header & {*known, ALL, LEAN}
    wants_read_only = headers.get(READONLY_HEADER, "").strip().lower() not in FALSE_WORDS
    return Selection(names, default.read_only or wants_read_only)


def check_setting(names: Iterable[str], services: Iterable[Service]) -> None:
    """Raise SettingsInvalid if CTX_TOOLSETS names a toolset that no service has."""
    known = {ALL, LEAN}.union(*(service.toolsets for service in services))
    unknown = sorted(set(names) - known)
    if unknown:
        allowed = ", ".join(sorted(known))
        raise SettingsInvalid(
            f"CTX_TOOLSETS={','.join(unknown)}: no such toolset. Allowed: {allowed}"
        )


def _split(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
