"""How many chunks of 100 tokens the shipped model embeds in a second, one process for each core.

    python -m scripts.model.speed FOLDER [--processes N] [--model FOLDER]

FOLDER holds source code; its files are cut into pieces of 100 tokens. Words met before are looked
up, as in an index run: the first pass over the pieces is reported beside the best of three.
"""

import argparse
import os
import time
from multiprocessing import Pool
from pathlib import Path

from ctx_core.embedding.factory import SHIPPED
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.settings.models import CODE_MODEL

PIECE_TOKENS = 100
PIECES = 20_000
ROUNDS = 3
BATCH = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--model", type=Path, default=SHIPPED / CODE_MODEL)
    options = parser.parse_args()
    pieces = list(_pieces(options.folder, options.model))[:PIECES]
    with Pool(options.processes) as pool:
        work = [(options.model, pieces)] * options.processes
        rates = pool.starmap(_rates, work)
    first, best = (sum(each) for each in zip(*rates, strict=True))
    cpu = min(len(pieces) / rate for _, rate in rates)
    print(f"{len(pieces)} pieces in each of {options.processes} processes")
    print(f"first pass {first:,.0f} chunks/s, best {best:,.0f} chunks/s of {cpu:.2f} s")


def _pieces(folder: Path, model: Path) -> list[str]:
    tokenizer = StaticEmbedder(model)._tokenizer
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text("utf-8", "replace")
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        for start in range(0, len(offsets) - PIECE_TOKENS, PIECE_TOKENS):
            found.append(text[offsets[start][0] : offsets[start + PIECE_TOKENS - 1][1]])
    return found


def _rates(model: Path, pieces: list[str]) -> tuple[float, float]:
    """Pieces for each second of processor time: at the first pass, and at the best."""
    embedder = StaticEmbedder(model)
    rates = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for start in range(0, len(pieces), BATCH):
            embedder.embed_documents(pieces[start : start + BATCH])
        rates.append(len(pieces) / (time.process_time() - begun))
    return rates[0], max(rates)


if __name__ == "__main__":
    main()
