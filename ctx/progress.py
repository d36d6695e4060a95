"""One line on the terminal that shows how far a long run is."""

import shutil
import sys

BAR_WIDTH = 30


class Bar:
    """`of` says what is counted."""

    def __init__(self, of: str, *, visible: bool) -> None:
        self._of = of
        self._visible = visible

    async def show(self, done: float, total: float | None, message: str | None) -> None:
        if not self._visible:
            return
        share = done / total if total else 0.0
        filled = "#" * round(share * BAR_WIDTH)
        counts = f"{done:.0f}/{total:.0f} {self._of}" if total else ""
        line = f"[{filled:<{BAR_WIDTH}}] {share:4.0%} {counts} {message or ''}"
        print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr)
        sys.stderr.flush()

    def clear(self) -> None:
        if self._visible:
            print("\r\x1b[K", end="", file=sys.stderr)
