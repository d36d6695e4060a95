"""Qdrant, embedded or as a server, behind one interface: `protocol.VectorStore`."""
