"""The memory server: recall, speed of its searches, safety of its stores and merges."""
