"""Search in a project's knowledge, by meaning and by words."""
