"""Which embedder the name of a model means."""

from importlib.util import find_spec
from pathlib import Path

from services.core.embedding.cache import CachedEmbedder, EmbeddingCache
from services.core.embedding.onnx import FastembedEmbedder, OnnxEmbedder
from services.core.embedding.protocol import Embedder
from services.core.embedding.static import DESCRIPTION, StaticEmbedder
from services.core.errors import ModelUnavailable

SHIPPED = Path(__file__).parent / "models"
PACKAGE_PREFIX = "package:"  # package:NAME/folder/inside, a folder of an installed package


def open_embedder(name: str, cache_path: Path) -> CachedEmbedder:
    """Load the model, behind the persistent cache. Slow: at start, never in a request."""
    embedder = _load(name, cache_path.parent / "models")
    return CachedEmbedder(embedder, EmbeddingCache(cache_path))


def open_present(name: str, download_dir: Path) -> Embedder:
    """The model that an older collection names, if it is on this machine: nothing is downloaded.

    A static model in a folder is known by the name that it gives itself, and not found by it.
    """
    return _load(name, download_dir, download=False)


def _load(name: str, download_dir: Path, *, download: bool = True) -> Embedder:
    if name in shipped_models():
        return StaticEmbedder(SHIPPED / name)
    if name.startswith(PACKAGE_PREFIX):
        return _of_folder(name, _package_folder(name))
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _of_folder(str(folder.resolve()), folder)
    return FastembedEmbedder(name, download_dir, download=download)


def _of_folder(name: str, folder: Path) -> Embedder:
    """A static model has a description beside it and a name of its own."""
    if (folder / DESCRIPTION).is_file():
        return StaticEmbedder(folder)
    return OnnxEmbedder(name, folder)


def shipped_models() -> list[str]:
    """The models inside our own package."""
    return sorted(path.name for path in SHIPPED.iterdir() if (path / DESCRIPTION).is_file())


def _package_folder(name: str) -> Path:
    package, _, inside = name.removeprefix(PACKAGE_PREFIX).partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            f"embedding model {name}: the package {package} is not installed; install it with pip."
        )
    return Path(next(iter(spec.submodule_search_locations))) / inside
