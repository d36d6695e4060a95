"""The decoder: a language model that writes text, here or behind a URL."""
