"""`python -m ctx_memory`: the memory server alone."""

import os
import sys

if __name__ == "__main__":
    ours = os.path.dirname(os.path.dirname(__file__))
    sys.path[:] = [ours, *reversed(sys.path)]  # the folders of PYTHONPATH come after the library
    from ctx_core.environment.import_path import leave_guests_out

    leave_guests_out()
    from ctx_core.serving.process import main
    from ctx_memory.process import run

    main("memory", run)
