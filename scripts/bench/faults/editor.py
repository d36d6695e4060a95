"""An editor: changes the files that the indexer follows, and searches them."""

import asyncio
import contextlib
import random

from ctx_core.errors import RemoteFailed, StorageFailed
from ctx_core.serving.mcp.client import call_tool
from scripts.bench.faults.clerk import CALL_SECONDS, CALM_SECONDS, NO_ANSWER, OK
from scripts.bench.faults.ledger import Ledger
from scripts.bench.faults.world import INDEXER, World

FILES = 12
FUNCTIONS = 5
REST_SECONDS = (0.05, 0.2)


class Editor:
    """Edits files, indexes and searches them."""

    def __init__(self, world: World, ledger: Ledger, rng: random.Random) -> None:
        self._url = world.mcp(INDEXER)
        self._project = world.project(INDEXER)
        self._ledger = ledger
        self._rng = rng

    async def work(self, until: asyncio.Event, calm: asyncio.Event) -> None:
        """Edit and search until told to stop; seldom while it should be calm."""
        while not until.is_set():
            with contextlib.suppress(OSError):  # the disk may be full, or without power
                self._edit()
            if self._rng.random() < 0.4:
                await self._call("repo_search", query=f"name_{self._rng.randrange(100)}")
            elif self._rng.random() < 0.3:
                await self._call("qdrant_index")
            await asyncio.sleep(CALM_SECONDS if calm.is_set() else self._rng.uniform(*REST_SECONDS))

    def _edit(self) -> None:
        file = self._project / f"m{self._rng.randrange(3)}" / f"f{self._rng.randrange(FILES)}.py"
        if file.exists() and self._rng.random() < 0.3:
            file.unlink()
            return
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "\n".join(
                f"def name_{self._rng.randrange(100)}(value):\n"
                f"    return value + {self._rng.random()}\n"
                for _ in range(self._rng.randrange(1, FUNCTIONS))
            )
        )

    async def _call(self, tool: str, **arguments: object) -> None:
        try:
            await call_tool(self._url, tool, arguments, seconds=CALL_SECONDS)
        except RemoteFailed as error:
            self._ledger.calls[error.code] += 1
            if error.code == "INTERNAL_ERROR":
                self._ledger.defects.append(f"{tool}: {error}")
        except StorageFailed:
            self._ledger.calls[NO_ANSWER] += 1
        else:
            self._ledger.calls[OK] += 1
