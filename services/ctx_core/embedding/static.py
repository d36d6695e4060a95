"""Static embedding models: a table with one vector per token; no network, no neural net.

A text's vector is the weighted sum of its distinct tokens' vectors, scaled to length one. The
weight of a token is part of its row in the table; a token that occurs n times counts √n times.
`scripts/model/train.py` trains the table; README.md beside it gives the reasons.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ctx_core.batches import batches
from ctx_core.embedding.description import DESCRIPTION
from ctx_core.errors import ModelUnavailable

FORMAT = 1  # of the model folder; train.py writes the same number

# A chunk has a few hundred tokens. Tokens beyond these limits take time and hardly change the mean;
# characters are cut first, so that a huge text is not tokenised in vain.
MAX_TOKENS = 2_048
MAX_CHARACTERS = 16 * MAX_TOKENS
BATCH_SIZE = 256  # texts tokenised at once: bounds memory, keeps all cores of the tokenizer busy

# The tokenizer splits ASCII text at white space and around each punctuation character, and the
# tokens of a word do not depend on its neighbours. So words are looked up in a cache: three times
# as fast as tokenising. Not for texts with control characters, which the tokenizer drops without
# splitting, nor for long ones, which it truncates.
_PUNCTUATION = [chr(c) for c in range(33, 127) if not chr(c).isalnum()]
_WITHOUT_PUNCTUATION = "".join(" " if chr(c) in _PUNCTUATION else chr(c) for c in range(128))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_CACHED_WORDS = 65_536  # about 13 MB; then the cache is emptied

Vectors = NDArray[np.float32]


class StaticEmbedder:
    """A static model. Threads may share it: the table never changes, and the cache only grows."""

    def __init__(self, folder: Path) -> None:
        try:
            described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            self._table, self._scales = _load_table(folder)
            self._tokenizer = _load_tokenizer(folder)
        # ValueError: a file of another format than its name says.
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"The model folder {folder} cannot be read ({error}); make it again, or reinstall "
                "the package."
            ) from error
        if described.get("format") != FORMAT:
            raise ModelUnavailable(
                f"The model folder {folder} has format {described.get('format')}, not {FORMAT}; "
                "reinstall the package."
            )
        self._name = str(described["name"])
        self._words: dict[str, tuple[int, ...]] = {}
        self._punctuation = self._known_punctuation()
        self._blank = _blank_vector(self.dims)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dims(self) -> int:
        return int(self._table.shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dims), dtype=np.float32)
        cacheable = {
            row: text.translate(_WITHOUT_PUNCTUATION).split()
            for row, text in enumerate(texts)
            if _is_cacheable(text)
        }
        word_tokens = self._word_tokens(set().union(*cacheable.values()))
        for row, words in cacheable.items():
            vectors[row] = self._unit(*self._count_cached(words, texts[row], word_tokens))
        others = [row for row in range(len(texts)) if row not in cacheable]
        for rows in batches(others, BATCH_SIZE):
            counted = self._count_tokens([texts[row] for row in rows])
            for row, (tokens, weights) in zip(rows, counted, strict=True):
                vectors[row] = self._unit(tokens, weights)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        return np.asarray(self.embed_documents([text])[0], dtype=np.float32)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return self.embed_documents(words)

    def _word_tokens(self, words: set[str]) -> Mapping[str, Sequence[int]]:
        """Return a cache with the tokens of at least these words.

        Another thread may read a cache: it is never emptied, but replaced by a new one.
        """
        cache = self._words
        missing = [word for word in words if word not in cache]
        if missing:
            if len(cache) + len(missing) > MAX_CACHED_WORDS:
                cache, missing = {}, list(words)
            encodings = self._tokenizer.encode_batch_fast(missing, add_special_tokens=False)
            cache.update(zip(missing, (tuple(each.ids) for each in encodings), strict=True))
            self._words = cache
        return cache

    def _known_punctuation(self) -> dict[str, tuple[int, ...]]:
        """Return the tokens of the punctuation characters whose vectors are not zero."""
        encodings = self._tokenizer.encode_batch_fast(_PUNCTUATION, add_special_tokens=False)
        tokens = {
            character: tuple(each.ids)
            for character, each in zip(_PUNCTUATION, encodings, strict=True)
        }
        return {each: ids for each, ids in tokens.items() if self._table[list(ids)].any()}

    def _count_cached(
        self, words: Sequence[str], text: str, word_tokens: Mapping[str, Sequence[int]]
    ) -> tuple[NDArray[np.int64], Vectors]:
        """Return the distinct tokens of a text of these words, and the roots of their counts."""
        counts = Counter(chain.from_iterable(map(word_tokens.__getitem__, words)))
        for character, ids in self._punctuation.items():
            if occurs := text.count(character):
                for token in ids:
                    counts[token] += occurs
        tokens = np.fromiter(counts, np.int64, len(counts))
        weights = np.fromiter(counts.values(), np.float32, len(counts))
        return tokens, np.sqrt(weights)

    def _count_tokens(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Yield the distinct tokens of each text, and the roots of their counts."""
        cut = [_encodable(text[:MAX_CHARACTERS]) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        lists = [encoding.ids for encoding in encodings]
        flat = np.fromiter(chain.from_iterable(lists), dtype=np.int64)
        owners = np.repeat(np.arange(len(lists)), [len(ids) for ids in lists])
        # One sort for the whole batch, by text and then by token.
        vocabulary = len(self._table)
        keys, counts = np.unique(owners * vocabulary + flat, return_counts=True)
        owners, tokens = np.divmod(keys, vocabulary)
        weights = np.sqrt(counts, dtype=np.float32)
        bounds = np.searchsorted(owners, np.arange(len(lists) + 1))
        for start, end in pairwise(bounds):
            yield tokens[start:end], weights[start:end]

    def _unit(self, tokens: NDArray[np.int64], weights: Vectors) -> Vectors:
        rows: Vectors = self._table[tokens].astype(np.float32)
        scaled: Vectors = weights * self._scales[tokens]
        vector: Vectors = scaled @ rows
        length = math.sqrt(vector @ vector)
        return vector / np.float32(length) if length > 0 else self._blank


def _is_cacheable(text: str) -> bool:
    """Whether the tokens of its words are the tokens of the text."""
    return len(text) <= MAX_TOKENS and text.isascii() and not _CONTROL.search(text)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load_table(folder: Path) -> tuple[NDArray[np.int8], Vectors]:
    """Map the table, eight bits a dimension, and load the scale of each row.

    As float32 it took 44 MB that the system cannot drop, and texts as long to embed.
    """
    table = np.asarray(np.load(folder / "embeddings.npy", mmap_mode="r"))
    scales: Vectors = np.load(folder / "scales.npy").astype(np.float32)
    return table, scales


def _load_tokenizer(folder: Path) -> Tokenizer:
    text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"tokenizer.json: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _blank_vector(dims: int) -> Vectors:
    """Return the vector of a text without known tokens.

    A zero vector has no cosine. The tokens vary least along the last axis, so this vector is close
    to no real text.
    """
    vector = np.zeros(dims, dtype=np.float32)
    vector[-1] = 1.0
    return vector
