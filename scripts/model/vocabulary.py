"""The tokens of the model: whole words of identifiers and of English, and pieces for the rest."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import scipy.sparse as sp
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from scripts.model.pairs import Pair

SIZE = 48_000  # at most
MIN_PACKAGES = 3  # that a word occurs in: fewer is a dialect
MIN_PACKAGES_OF_NUMBERED = 20  # utf8 and sha256 are words, most others with digits are data
MAX_WORD = 40  # characters; longer ones are data
MAX_TEXT = 16_384  # characters read of a text
UNKNOWN = "[UNK]"
# getHTTPResponse → get HTTP Response; marks, the underscore among them, cut by themselves.
IDENTIFIER_PARTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_CUT = re.compile(IDENTIFIER_PARTS)
_UNMARKED = "".join(chr(c) if chr(c).isalnum() else " " for c in range(128))
_BATCH = 20_000


def train_tokenizer(packages: Iterable[Sequence[Pair]]) -> Tokenizer:
    """WordPiece over the words of the pairs, each counted once for a package that has it."""
    spread: Counter[str] = Counter()
    for pairs in packages:
        written = set(chain.from_iterable(_words(f"{p.question} {p.code}") for p in pairs))
        parts = {part.lower() for word in written for part in _CUT.split(word)}
        spread.update(part for part in parts if len(part) <= MAX_WORD)
    common = sorted(item for item in spread.items() if _is_common(*item))
    tokenizer = Tokenizer(models.WordPiece(_vocabulary(common), unk_token=UNKNOWN))
    cut = normalizers.Replace(Regex(IDENTIFIER_PARTS), " ")
    lower = normalizers.BertNormalizer(lowercase=True)
    tokenizer.normalizer = normalizers.Sequence([cut, lower])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _vocabulary(counts: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Tokens and their numbers. The trainer breaks ties by number, and numbers letters as chance
    has it unless they are given."""
    letters = sorted({letter for word, _ in counts for letter in word})
    learner = Tokenizer(models.WordPiece({UNKNOWN: 0}, unk_token=UNKNOWN))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=SIZE,
        special_tokens=[UNKNOWN, *letters, *(f"##{letter}" for letter in letters)],
        show_progress=False,
    )
    learner.train_from_iterator((f"{word} " * count for word, count in counts), trainer)
    return dict(learner.get_vocab())


def _is_common(word: str, packages: int) -> bool:
    return packages >= (MIN_PACKAGES if word.isalpha() else MIN_PACKAGES_OF_NUMBERED)


def _words(text: str) -> list[str]:
    return text[:MAX_TEXT].translate(_UNMARKED).split() if text.isascii() else []


class Bags:
    """Texts as rows of token counts. What a word is cut into is looked up, not cut again."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, texts: Sequence[str]) -> sp.csr_matrix:
        """One row a text: the roots of the counts of its tokens, unknown ones left out."""
        parts = [self._rows(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        return sp.vstack(parts, format="csr")

    def _rows(self, texts: Sequence[str]) -> sp.csr_matrix:
        split = [_words(text) for text in texts]
        self._learn({word for words in split for word in words} - self._known.keys())
        tokens = [list(chain.from_iterable(map(self._known.__getitem__, w))) for w in split]
        bounds = np.concatenate([[0], np.cumsum([len(each) for each in tokens])])
        flat = np.fromiter(chain.from_iterable(tokens), np.int32, bounds[-1])
        shape = (len(texts), self._tokenizer.get_vocab_size())
        rows = sp.csr_matrix((np.ones(len(flat), np.float32), flat, bounds), shape=shape)
        rows.sum_duplicates()
        rows.data = np.sqrt(rows.data)
        return rows

    def _learn(self, words: set[str]) -> None:
        missing = sorted(words)
        encoded = self._tokenizer.encode_batch_fast(missing, add_special_tokens=False)
        for word, encoding in zip(missing, encoded, strict=True):
            self._known[word] = tuple(token for token in encoding.ids if token)
