"""Draw the learning curves of the last training: report/curve.json → report/curve.png."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

REPORT = Path(__file__).parent / "report"


def main() -> None:
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for curve in json.loads((REPORT / "curve.json").read_text()):
        axes.plot(*zip(*curve, strict=True), linewidth=1)
    axes.set_xlabel("step (512 pairs)")
    axes.set_ylabel("loss, mean of 50 steps")
    axes.grid(visible=True, alpha=0.3)
    figure.savefig(REPORT / "curve.png", dpi=110)


if __name__ == "__main__":
    main()
