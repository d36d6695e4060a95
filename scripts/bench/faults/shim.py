"""The shim: a library that changes the clock of a process and the time that its fsync takes."""

import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class Shim:
    """What is preloaded into a process, and the file by which it is told what to do."""

    library: Path
    settings: Path

    @property
    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "FAULTS_FILE": str(self.settings)}

    def tell(self, *, seconds_ahead: float = 0.0, sync_seconds: float = 0.0) -> None:
        """Set how far the clock is ahead, and how much longer a sync takes, from now on."""
        numbers = struct.pack("qq", int(seconds_ahead * 1e9), int(sync_seconds * 1e6))
        with self.settings.open("r+b") as file:  # in place: it is mapped
            file.write(numbers)


def compile_shim(folder: Path) -> Path | None:
    """Compile the library; None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    library.chmod(0o755)
    return library


def shim_for(library: Path, settings: Path) -> Shim:
    """Return a shim with settings of its own, which change nothing yet."""
    settings.write_bytes(struct.pack("qq", 0, 0))
    settings.chmod(0o644)
    return Shim(library, settings)
