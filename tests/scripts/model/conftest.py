import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "scripts" / "model"))
