"""When changes are applied: soon after a single save, later while thousands of files change."""

# Quiet time that is waited for: an editor's save is several events within a few milliseconds.
QUIET_SECONDS = 0.05
QUIET_SECONDS_PER_PATH = 0.002
MOST_QUIET_SECONDS = 1.0
# Changes that never pause, as of a file that is written all the time, are applied after so many
# quiet times.
LONGEST_WAIT = 8.0
# Rest after an update, as a multiple of its duration: nothing that happens in a workspace takes
# more than a share of a core. One that found nothing to do is worth less.
REST_AFTER_UPDATE = 1.0
REST_AFTER_NOTHING = 9.0
MOST_REST_SECONDS = 10.0


def due_at(first: float, last: float, paths: int) -> float:
    """Return when changes are applied, by when the first and the last of them were noticed."""
    quiet = min(MOST_QUIET_SECONDS, QUIET_SECONDS + QUIET_SECONDS_PER_PATH * paths)
    return min(last + quiet, first + quiet * LONGEST_WAIT)


def rest_seconds(duration: float, *, changed: bool) -> float:
    """Return how long to rest after an update that took so long."""
    factor = REST_AFTER_UPDATE if changed else REST_AFTER_NOTHING
    return min(MOST_REST_SECONDS, duration * factor)
