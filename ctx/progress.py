"""One line on the terminal that shows how far a long call is."""

import shutil
import sys
from types import TracebackType

BAR_WIDTH = 30


class ProgressBar:
    """Draws a bar over what is counted, until the block ends; nothing where it is not visible."""

    def __init__(self, unit: str, *, as_json: bool) -> None:
        self._unit = unit
        self._is_visible = sys.stderr.isatty() and not as_json

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draw("")

    async def show(self, done: float, total: float | None, message: str | None) -> None:
        """Draw how much is done; called by the MCP client for each report of the server."""
        share = done / total if total else 0.0
        filled = "#" * round(share * BAR_WIDTH)
        counts = f"{done:.0f}/{total:.0f} {self._unit}" if total else ""
        self._draw(f"[{filled:<{BAR_WIDTH}}] {share:4.0%} {counts} {message or ''}")

    def _draw(self, line: str) -> None:
        if self._is_visible:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
