"""`python -m ctx_indexer`: the indexer server alone; memories go to the memory server."""

import os
import sys

if __name__ == "__main__":
    ours = os.path.dirname(os.path.dirname(__file__))
    sys.path[:] = [ours, *reversed(sys.path)]  # the folders of PYTHONPATH come after the library
    from ctx_core.environment.import_path import leave_guests_out

    leave_guests_out()
    from ctx_core.serving.process import main
    from ctx_indexer.process import run

    main("indexer", run)
