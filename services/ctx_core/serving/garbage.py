"""Garbage collection of a server process: none while it starts, little afterwards."""

import gc

# New objects per run of generation 0, runs per run of the next generation. Requests leave hardly
# any cycles behind.
THRESHOLDS = (20_000, 20, 50)


def pause_collection() -> None:
    """Collect nothing while modules are imported: a tenth of the time of a start."""
    gc.disable()


def resume_collection() -> None:
    """Collect from now on, and exempt all objects of the start.

    Looking through them made some requests wait for tenths of a second. A start leaves some
    thousand objects in cycles among 300,000: they are kept rather than looked for.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
