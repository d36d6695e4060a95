"""Replace this process with the Qdrant server, which is then stopped when its parent dies.

A script in a fresh interpreter, because a process with threads cannot safely do this between fork
and exec. Arguments: the parent's process id, the file for our own, the binary.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, pid_file, binary = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if sys.platform == "linux":
        # For Linux the parent is the thread that started us: the one of the event loop.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before prctl
        sys.exit(1)
    pid_file.write_text(str(os.getpid()), encoding="utf-8")
    os.execv(binary, [binary])


if __name__ == "__main__":
    main()
