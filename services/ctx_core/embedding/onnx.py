"""Run transformer models: a folder with an ONNX file, or a fastembed model by name."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctx_core.errors import ModelUnavailable

log = logging.getLogger(__name__)

MODEL_ROLE = "embedding model"  # how errors call it
MAX_TOKENS = 512  # the position limit of BERT-sized models
# Larger batches only pad more on a CPU, and leave its caches: twice these limits took a fifth more
# for texts of 450 characters. The memory of a batch of long texts is never given back: 32 texts
# of 512 tokens each made a process grow by 600 MB, with twice these limits by 60 MB.
BATCH = 4
MAX_BATCH_CHARACTERS = 1_000
MAX_THREADS = 4  # of one run: more wait for each other longer than they compute
TOKENIZER_FILE = "tokenizer.json"
CLS_POOLING_MARK = '"pooling_mode_cls_token": true'
MIN_NORM = 1e-12  # avoids a division by zero


class OnnxModel:
    """An ONNX file and its tokenizer, run by onnxruntime on the CPU."""

    def __init__(self, role: str, folder: Path) -> None:
        import onnxruntime  # noqa: PLC0415 - slow to import, needed only with such a model
        from tokenizers import Tokenizer  # noqa: PLC0415

        tokenizer_path, model_path = _model_files(role, folder)
        self._tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(os.cpu_count() or 1, MAX_THREADS)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(model_path), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {node.name for node in self._session.get_inputs()}

    def run(
        self, texts: Sequence[str] | Sequence[tuple[str, str]]
    ) -> tuple[Any, NDArray[np.int64]]:
        """Return the first output for a batch of texts or pairs, and its attention mask."""
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([e.attention_mask for e in encoded], np.int64)
        feed = {
            "input_ids": np.array([e.ids for e in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encoded], np.int64),
        }
        output = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0]
        return output, mask


class OnnxEmbedder:
    """A sentence transformer exported to ONNX.

    `query_prefix` stands before every query: some models were trained so. Without `uses_cls` the
    folder says which token states make the vector.
    """

    def __init__(
        self, name: str, folder: Path, query_prefix: str = "", uses_cls: bool | None = None
    ) -> None:
        self.name = name
        self._model = OnnxModel(MODEL_ROLE, folder)
        self._query_prefix = query_prefix
        self._uses_cls = _uses_cls_pooling(folder) if uses_cls is None else uses_cls
        self.dims = int(self.embed_query("dimensions").shape[0])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed in batches of similar length; return the rows in the order of the texts."""
        rows = np.empty((len(texts), self.dims), np.float32)
        for batch in _batches_by_length(texts):
            rows[batch] = self._embed([texts[i] for i in batch])
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self._embed([self._query_prefix + text])[0]
        return row

    def embed_words(self, words: Sequence[str]) -> None:
        """Return None: a word takes milliseconds."""

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        output, mask = self._model.run(texts)
        return _normalised(_pooled(np.asarray(output, np.float32), mask, self._uses_cls))


class FastembedEmbedder:
    """A model of fastembed's catalogue, downloaded once into the data folder."""

    def __init__(self, name: str, cache_dir: Path, download: bool = True) -> None:
        from fastembed import TextEmbedding  # noqa: PLC0415 - slow to import

        self.name = name
        self._model = from_catalogue(MODEL_ROLE, name, TextEmbedding, cache_dir, download=download)
        self.dims = int(self._model.embedding_size)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._rows(self._model.embed(list(texts), batch_size=BATCH), len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self._rows(self._model.query_embed(text), 1)[0]
        return row

    def embed_words(self, words: Sequence[str]) -> None:
        """Return None: a word takes milliseconds."""

    def _rows(self, vectors: Iterable[NDArray[np.float32]], count: int) -> NDArray[np.float32]:
        rows = np.empty((count, self.dims), np.float32)
        for index, vector in enumerate(vectors):
            rows[index] = vector
        return _normalised(rows)


def from_catalogue(
    role: str, name: str, kind: Any, cache_dir: Path, *, download: bool = True
) -> Any:
    """Load a model of one of fastembed's classes, downloading it where that is allowed.

    Raises ModelUnavailable, which names similar models or the remedy of a failed download.
    """
    known = [model["model"] for model in kind.list_supported_models()]
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f" Near it: {', '.join(near)}." if near else ""
        raise ModelUnavailable(
            f"{role} {name}: neither a shipped model, nor an existing folder, nor a model of "
            f"fastembed's catalogue.{hint}"
        )
    log.info("loading %s; the first time it is downloaded to %s", name, cache_dir)
    try:
        return kind(name, cache_dir=str(cache_dir), local_files_only=not download)
    except (ValueError, OSError) as error:
        raise ModelUnavailable(
            f"{role} {name} could not be downloaded: {error} Check the network, copy the model "
            f"into {cache_dir} from a machine that has it, or choose another."
        ) from error


def _model_files(role: str, folder: Path) -> tuple[Path, Path]:
    """Return the tokenizer and the ONNX file of a folder. Raises ModelUnavailable."""
    tokenizer = folder / TOKENIZER_FILE
    models = sorted(folder.glob("*.onnx")) or sorted(folder.glob("onnx/*.onnx"))
    candidates = [path for path in models if path.stem == "model"] or models
    if not tokenizer.is_file() or len(candidates) != 1:
        names = ", ".join(path.name for path in models) or "none"
        raise ModelUnavailable(
            f"{role} {folder}: a model folder holds {TOKENIZER_FILE} and one .onnx file "
            f"(or model.onnx among several); .onnx files found: {names}, {TOKENIZER_FILE}: "
            + ("found." if tokenizer.is_file() else "missing.")
        )
    return tokenizer, candidates[0]


def _batches_by_length(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the indexes of texts of similar length, few where they are long."""
    batch: list[int] = []
    for index in sorted(range(len(texts)), key=lambda i: len(texts[i])):
        padded = len(texts[index]) * (len(batch) + 1)
        if batch and (len(batch) == BATCH or padded > MAX_BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _uses_cls_pooling(folder: Path) -> bool:
    """Whether a text's vector is that of its first token, by the folder's pooling configuration.

    Otherwise it is the mean of its tokens' vectors.
    """
    config = folder / "1_Pooling" / "config.json"
    return config.is_file() and CLS_POOLING_MARK in config.read_text()


def _pooled(
    output: NDArray[np.float32], mask: NDArray[np.int64], uses_cls: bool
) -> NDArray[np.float32]:
    if output.ndim == 2:  # the export pools by itself
        return output
    if uses_cls:
        return output[:, 0]
    weights = mask[:, :, None].astype(np.float32)
    mean: NDArray[np.float32] = (output * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def _normalised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = rows / np.maximum(norms, MIN_NORM)
    return unit
