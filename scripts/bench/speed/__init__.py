"""CPU, time and memory of indexing, following, starting and searching."""
