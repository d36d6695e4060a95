"""The shipped embedders: one vector a token, read from a table; no network, no neural net.

A text's vector is the weighted sum of its distinct tokens' vectors, scaled to length one. The
weight of a token is folded into its row of the table; a token that occurs n times counts √n.
`scripts/model/train.py` makes the table; README.md beside it says why it is made so.
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

from services.core.batches import batches
from services.core.errors import ModelUnavailable

DESCRIPTION = "model.json"  # what a folder with such a model holds
FORMAT = 1  # of the model folder; train.py writes the same number

# A chunk has a few hundred tokens. What follows these limits would cost time and hardly move the
# mean; characters are cut first, so that a huge text is not tokenised only to be thrown away.
MAX_TOKENS = 2_048
MAX_CHARACTERS = 16 * MAX_TOKENS
BATCH_SIZE = 256  # texts tokenised at once: bounds memory, keeps all cores of the tokenizer busy

# The tokenizer cuts ASCII text at white space and around each mark, and what it makes of a word
# does not depend on its neighbours. So words are looked up: three times as fast as tokenising.
# Control characters vanish without cutting, and long texts may be cut short: not for this way.
_MARKS = [chr(c) for c in range(33, 127) if not chr(c).isalnum()]
_UNMARKED = "".join(" " if chr(c) in _MARKS else chr(c) for c in range(128))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_WORDS_KNOWN = 200_000  # about 40 MB; then it starts anew

Vectors = NDArray[np.float32]


class StaticEmbedder:
    """A token table behind the Embedder protocol. Immutable once loaded, so safe in threads."""

    def __init__(self, folder: Path) -> None:
        try:
            described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            self._table = _load_table(folder)
            self._tokenizer = _load_tokenizer(folder)
        # ValueError: a file that is not what its name says.
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
        self._marks = self._telling_marks()
        self._blank = _blank_vector(self.dims)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dims(self) -> int:
        return int(self._table.shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text, in the order of the texts."""
        vectors = np.empty((len(texts), self.dims), dtype=np.float32)
        plain = {
            row: text.translate(_UNMARKED).split()
            for row, text in enumerate(texts)
            if _is_plain(text)
        }
        known = self._learnt(set().union(*plain.values()))
        for row, words in plain.items():
            vectors[row] = self._unit(*self._counted(words, texts[row], known))
        others = [row for row in range(len(texts)) if row not in plain]
        for rows in batches(others, BATCH_SIZE):
            found = self._tokens([texts[row] for row in rows])
            for row, (tokens, weights) in zip(rows, found, strict=True):
                vectors[row] = self._unit(tokens, weights)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        return np.asarray(self.embed_documents([text])[0], dtype=np.float32)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return self.embed_documents(words)

    def _learnt(self, wanted: set[str]) -> Mapping[str, Sequence[int]]:
        """The tokens of at least these words. A table only grows while somebody may read it; one
        that has grown too large is replaced."""
        known = self._words
        missing = [word for word in wanted if word not in known]
        if missing:
            if len(known) + len(missing) > MAX_WORDS_KNOWN:
                known, missing = {}, list(wanted)
            encodings = self._tokenizer.encode_batch_fast(missing, add_special_tokens=False)
            known.update(zip(missing, (tuple(each.ids) for each in encodings), strict=True))
            self._words = known
        return known

    def _telling_marks(self) -> dict[str, tuple[int, ...]]:
        """The tokens of those marks that the model knows; others are not worth counting."""
        encodings = self._tokenizer.encode_batch_fast(_MARKS, add_special_tokens=False)
        found = {mark: tuple(each.ids) for mark, each in zip(_MARKS, encodings, strict=True)}
        return {mark: ids for mark, ids in found.items() if self._table[list(ids)].any()}

    def _counted(
        self, words: Sequence[str], text: str, known: Mapping[str, Sequence[int]]
    ) -> tuple[NDArray[np.int64], Vectors]:
        """The distinct tokens of a plain text of these words, with the roots of their counts."""
        found = Counter(chain.from_iterable(map(known.__getitem__, words)))
        for mark, ids in self._marks.items():
            if occurs := text.count(mark):
                for token in ids:
                    found[token] += occurs
        tokens = np.fromiter(found, np.int64, len(found))
        weights = np.fromiter(found.values(), np.float32, len(found))
        return tokens, np.sqrt(weights)

    def _tokens(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """The distinct tokens of each text with the roots of their counts."""
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
        vector: Vectors = weights @ self._table[tokens]
        length = math.sqrt(vector @ vector)
        return vector / np.float32(length) if length > 0 else self._blank


def _is_plain(text: str) -> bool:
    """Whether looking its words up gives what the tokenizer would."""
    return len(text) <= MAX_TOKENS and text.isascii() and not _CONTROL.search(text)


def _encodable(text: str) -> str:
    """The text without lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load_table(folder: Path) -> Vectors:
    """The table in float32: 30 MB of memory, which makes a lookup one gather and one product."""
    rows = np.load(folder / "embeddings.npy", mmap_mode="r")
    scales = np.load(folder / "scales.npy")
    table: Vectors = np.asarray(rows).astype(np.float32)
    table *= scales[:, None]
    return table


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
    """What an empty text, or one of unknown tokens only, is embedded as.

    A zero vector has no direction: Qdrant cannot take its cosine. The last axis is the one along
    which the tokens vary least, so this vector is close to no real text.
    """
    vector = np.zeros(dims, dtype=np.float32)
    vector[-1] = 1.0
    return vector
