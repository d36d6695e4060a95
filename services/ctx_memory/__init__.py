"""The memory server: entries in SQL, the truth, and their vectors in Qdrant, derived."""
