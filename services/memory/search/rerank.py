"""How many entries the reranking stage reads."""

# Whatever the page, so that all pages are cut from one order.
POOL = 50
