"""Open the embedding model that a name means: shipped, in a folder, or of fastembed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.cache import CachedEmbedder, EmbeddingCache
from ctx_core.embedding.description import DESCRIPTION, is_onnx, read_description
from ctx_core.embedding.onnx import FastembedEmbedder, OnnxEmbedder
from ctx_core.embedding.protocol import Embedder
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.errors import ModelUnavailable

SHIPPED = Path(__file__).parent / "models"
PACKAGE_PREFIX = "package:"  # package:NAME/folder/inside, a folder of an installed package
MAX_LOADED = 4  # in a process: for code and for memories, and the two that a rebuild replaces


def open_embedder(name: str, cache_path: Path) -> CachedEmbedder:
    """Open a model behind the persistent cache. Blocks for seconds: at a start, not in a request.

    Raises ModelUnavailable.
    """
    embedder = _load(name, cache_path.parent / "models")
    return CachedEmbedder(embedder, EmbeddingCache(cache_path))


def open_local(name: str, download_dir: Path) -> Embedder:
    """Open a model that is on this machine, without a download. Raises ModelUnavailable.

    A static model in a folder cannot be found by its own name, only by that of the folder.
    """
    return _load(name, download_dir, download=False)


def _load(name: str, download_dir: Path, *, download: bool = True) -> Embedder:
    if name in shipped_models():
        return _load_folder(name, SHIPPED / name)
    if name.startswith(PACKAGE_PREFIX):
        return _load_folder(name, _package_folder(name))
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _load_folder(str(folder.resolve()), folder)
    return _load_catalogued(name, download_dir, download)


_load_catalogued = lru_cache(maxsize=MAX_LOADED)(FastembedEmbedder)


@lru_cache(maxsize=MAX_LOADED)
def _load_folder(name: str, folder: Path) -> Embedder:
    """Load a model with a description, which has its own name, or an ONNX one without.

    Once for the process: a model takes tens of megabytes and never changes.
    """
    if is_onnx(folder):
        return _load_described(folder)
    if (folder / DESCRIPTION).is_file():
        return StaticEmbedder(folder)
    return OnnxEmbedder(name, folder)


def _load_described(folder: Path) -> Embedder:
    """Begin to load an ONNX model in the background."""
    described = read_description(folder)
    return BackgroundEmbedder(
        described.name,
        described.dims,
        lambda: OnnxEmbedder(described.name, folder, described.query_prefix, described.uses_cls),
    )


def shipped_models() -> list[str]:
    """Return the names of the models inside our package."""
    return sorted(path.name for path in SHIPPED.iterdir() if (path / DESCRIPTION).is_file())


def _package_folder(name: str) -> Path:
    package, _, inside = name.removeprefix(PACKAGE_PREFIX).partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            f"embedding model {name}: the package {package} is not installed; install it with pip."
        )
    return Path(next(iter(spec.submodule_search_locations))) / inside


class BackgroundEmbedder:
    """An embedder whose name and dims are known before it is loaded.

    Whoever embeds first waits until it is; a failure to load is raised there, each time.
    """

    def __init__(self, name: str, dims: int, load: Callable[[], Embedder]) -> None:
        self.name = name
        self.dims = dims
        pool = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._loading: Future[Embedder] = pool.submit(load)
        pool.shutdown(wait=False)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._loaded().embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._loaded().embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._loaded().embed_words(words)

    def _loaded(self) -> Embedder:
        embedder = self._loading.result()
        if embedder.dims != self.dims:
            raise ModelUnavailable(
                f"{self.name} has {embedder.dims} dims, its model.json says {self.dims}"
            )
        return embedder
