"""Which tools a client is offered: by the setting, the URL `/mcp/x/NAME` or headers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.core.errors import SettingsInvalid
from services.core.serving.service import Service, Tool
from services.core.settings import Settings

ALL = "all"
TOOLSETS_HEADER = "x-mcp-toolsets"
READONLY_HEADER = "x-mcp-readonly"
URL_INFIX = "/x/"  # /mcp/x/NAME
SCOPE_KEY = "ctx.toolset"  # where the dispatcher leaves the NAME of the URL
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True)
class Selection:
    """The toolsets a client chose, and whether it wants to write."""

    names: frozenset[str]
    read_only: bool

    def admits(self, tool: Tool) -> bool:
        """Read-only beats every toolset."""
        if self.read_only and tool.writes:
            return False
        return ALL in self.names or tool.toolset in self.names


def configured(settings: Settings) -> Selection:
    """Return the selection that the settings make."""
    return Selection(frozenset(settings.toolsets), settings.read_only)


def choose(
    default: Selection, headers: Mapping[str, str], url_toolset: str | None, known: Iterable[str]
) -> Selection:
    """The URL beats the header, the header beats the setting; unknown header names are ignored."""
    names = default.names
    asked = _names(headers.get(TOOLSETS_HEADER, ""))
    if url_toolset:
        names = frozenset({url_toolset})
    elif asked:
        names = asked & ({*known, ALL})
    wants_read_only = headers.get(READONLY_HEADER, "").strip().lower() not in FALSE_WORDS
    return Selection(names, default.read_only or wants_read_only)


def check_setting(names: Iterable[str], services: Iterable[Service]) -> None:
    """Refuse a CTX_TOOLSETS that names a toolset no server has."""
    known = {ALL}.union(*(service.toolsets for service in services))
    unknown = sorted(set(names) - known)
    if unknown:
        allowed = ", ".join(sorted(known))
        raise SettingsInvalid(
            f"CTX_TOOLSETS={','.join(unknown)}: no such toolset. Allowed: {allowed}"
        )


def _names(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
