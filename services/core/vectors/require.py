"""A collection that is read: it must be there, and built with the model that reads it."""

from services.core.vectors.model import CollectionInfo, CollectionSpec
from services.core.vectors.protocol import VectorStore


async def require(store: VectorStore, name: str, spec: CollectionSpec) -> CollectionInfo:
    """CollectionNotFound when it is not there, ModelMismatch when it is another model's."""
    info = await store.collection_info(name)
    await store.ensure_collection(name, spec)
    return info
