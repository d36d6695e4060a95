"""Programs that measure the product, each run from the top of the repository.

    .venv/bin/python -m scripts.bench.quality.retrieval --help

`corpora` and `fixtures` hold the data and the servers that programs measure with.
"""
