"""The faults, and what each needs: a disk that is a file system, a compiled shim."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from scripts.bench.faults.program import is_alive
from scripts.bench.faults.world import OURS, POSTGRES, QDRANT, World

Inject = Callable[[World, str, random.Random], Awaitable[None]]

DAY_SECONDS = 86_400.0
JUMPS = (-365 * DAY_SECONDS, -DAY_SECONDS, -60.0, 60.0, 3600.0, DAY_SECONDS, 365 * DAY_SECONDS)
SLOW_SYNC_SECONDS = (0.02, 0.3)
SHORT_SECONDS = (0.03, 0.3)
# Some pauses are longer than ctx waits for an answer of Qdrant.
PAUSE_SECONDS = (0.1, 2.6)
UNDER_FAULT_SECONDS = (0.3, 1.0)


@dataclass(frozen=True)
class Fault:
    """What is done to one program."""

    name: str
    target: str
    inject: Inject
    weight: int

    def __str__(self) -> str:
        return f"{self.name} {self.target}"


async def kill(world: World, target: str, rng: random.Random) -> None:
    """kill -9, and a start some moments later."""
    program = world.programs[target]
    await asyncio.to_thread(program.kill)
    await asyncio.sleep(rng.uniform(*SHORT_SECONDS))
    await asyncio.to_thread(program.start)


async def pause(world: World, target: str, rng: random.Random) -> None:
    """Stop answering, without closing a connection."""
    program = world.programs[target]
    program.pause()
    await asyncio.sleep(rng.uniform(*PAUSE_SECONDS))
    program.resume()


async def restart(world: World, target: str, rng: random.Random) -> None:
    """Stop and start as a deployment does."""
    program = world.programs[target]
    await asyncio.to_thread(program.stop)
    await asyncio.sleep(rng.uniform(0, SHORT_SECONDS[0]))
    await asyncio.to_thread(program.start)


async def fill_disk(world: World, target: str, rng: random.Random) -> None:
    """Leave no free byte for a while; what ends for that is started again afterwards."""
    disk, program = world.disks[target], world.programs[target]
    await asyncio.to_thread(disk.fill)
    await asyncio.sleep(rng.uniform(*UNDER_FAULT_SECONDS))
    disk.free()
    if program.pid is not None and not is_alive(program.pid):
        await asyncio.to_thread(program.start)


async def cut_power(world: World, target: str, rng: random.Random) -> None:
    """Lose what was not synced, with the process; then a start."""
    disk, program = world.disks[target], world.programs[target]
    disk.cut()
    await asyncio.to_thread(program.kill_all)
    await asyncio.sleep(rng.uniform(*SHORT_SECONDS))
    await asyncio.to_thread(disk.restore)
    await asyncio.to_thread(program.start)


async def slow_sync(world: World, target: str, rng: random.Random) -> None:
    """Let every fsync take longer."""
    shim = world.shims[target]
    shim.tell(sync_seconds=rng.uniform(*SLOW_SYNC_SECONDS))
    await asyncio.sleep(rng.uniform(*UNDER_FAULT_SECONDS))
    shim.tell()


async def jump_clock(world: World, target: str, rng: random.Random) -> None:
    """Set the time of day elsewhere, and back."""
    shim = world.shims[target]
    shim.tell(seconds_ahead=rng.choice(JUMPS))
    await asyncio.sleep(rng.uniform(*UNDER_FAULT_SECONDS))
    shim.tell()


async def jump_clock_and_kill(world: World, target: str, rng: random.Random) -> None:
    """Die while the time of day is wrong, and come back when it is right."""
    shim, program = world.shims[target], world.programs[target]
    shim.tell(seconds_ahead=rng.choice(JUMPS))
    await asyncio.sleep(rng.uniform(*SHORT_SECONDS))
    await asyncio.to_thread(program.kill)
    shim.tell()
    await asyncio.to_thread(program.start)


def faults(world: World, only: str) -> list[Fault]:
    """Return the faults that can be tried here and whose name holds a word.

    Those after which one of our servers starts are drawn more rarely: a start takes the most time.
    """
    everybody = (QDRANT, POSTGRES, *OURS)
    real = [name for name in everybody if world.disks[name].is_real]
    table: Sequence[tuple[str, Inject, Sequence[str], int, int]] = [
        ("kill", kill, everybody, 3, 2),
        ("pause", pause, everybody, 3, 3),
        ("restart", restart, everybody, 2, 1),
        ("full disk of", fill_disk, real, 2, 2),
        ("power loss of", cut_power, real, 3, 2),
        ("slow fsync of", slow_sync, list(world.shims), 2, 2),
        ("clock jump of", jump_clock, [name for name in OURS if name in world.shims], 0, 2),
        ("clock jump and kill of", jump_clock_and_kill, [*world.shims], 0, 1),
    ]
    known = [
        Fault(name, target, inject, weight)
        for name, inject, targets, of_engines, of_ours in table
        for target in targets
        if (weight := of_ours if target in OURS else of_engines)
    ]
    return [each for each in known if only in str(each)]
