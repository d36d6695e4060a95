"""Become the Qdrant server: note our process id, ask to die with our parent, exec.

Run as a script in a fresh interpreter, because doing this between fork and exec of a process with
threads is not safe. Arguments: the parent's process id, the file for our own, the binary.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, note, binary = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if sys.platform == "linux":
        # Linux counts the thread that started us as the parent: the one of the event loop.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before we asked
        sys.exit(1)
    note.write_text(str(os.getpid()), encoding="utf-8")
    os.execv(binary, [binary])


if __name__ == "__main__":
    main()
