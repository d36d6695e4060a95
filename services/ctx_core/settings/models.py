"""Settings of the models: embedding, reranking, text generation."""

from typing import Literal

from pydantic import AnyHttpUrl, BaseModel, SecretStr

from ctx_core.settings.fields import env

LLAMACPP, GLM, MINIMAX = "llamacpp", "glm", "minimax"
CODE_MODEL = "static-code-256-v2"
PROSE_MODEL = "static-minilm-256"  # the one for code is poor at everyday words
PROSE_TRANSFORMER = "arctic-embed-s-int8"  # finds more; hundreds of times slower, still 8 ms a text


class ModelSettings(BaseModel):
    """Which models the servers use, and how long each may take."""

    embedding_model: str | None = env(
        "EMBEDDING_MODEL",
        None,
        "Dense model: a shipped one by its name, a folder with `model.onnx` and `tokenizer.json` "
        "or with a model that `model.json` describes, or any fastembed model name (downloaded "
        "once). "
        f"Unset: `{CODE_MODEL}` for code, `{PROSE_TRANSFORMER}` for memories "
        f"(`{PROSE_MODEL}` is shipped too: a static model, which finds less and is much quicker).",
    )
    memory_embedding_model: str | None = env(
        "MEMORY_EMBEDDING_MODEL",
        None,
        "Dense model for memories and threads. Unset: EMBEDDING_MODEL, or where that is unset too "
        f"`{PROSE_TRANSFORMER}`.",
    )
    rerank_model: str | None = env(
        "RERANK_MODEL",
        None,
        "Cross-encoder that reads the best results again: a folder with an ONNX file and "
        "`tokenizer.json`, or a fastembed name. Unset: no reranking.",
    )
    rerank_blend_weight: float = env(
        "RERANK_BLEND_WEIGHT",
        0.6,
        "How much the cross-encoder counts against the first ranking.",
        ge=0,
        le=1,
    )
    post_rerank_symbol_boost: float = env(
        "POST_RERANK_SYMBOL_BOOST",
        1.0,
        "What a definition of the very name in the query gains after reranking.",
        ge=0,
    )
    rerank_timeout_seconds: float = env(
        "RERANK_TIMEOUT_SECONDS",
        2.0,
        "Longest time for reranking; after it the first ranking is returned, and said so.",
        gt=0,
    )
    refrag_decoder: bool = env(
        "REFRAG_DECODER", True, "0: no text is generated, whatever model is configured."
    )
    refrag_runtime: Literal["llamacpp", "glm", "minimax"] = env(
        "REFRAG_RUNTIME",
        LLAMACPP,
        "What generates text: `llamacpp` is `DECODER_URL` or `DECODER_MODEL`; `glm` and `minimax` "
        "are the services with the settings below.",
    )
    decoder_url: AnyHttpUrl | None = env(
        "DECODER_URL",
        None,
        "An OpenAI-compatible server that generates text. Unset: `DECODER_MODEL`, else none.",
    )
    decoder_api_key: SecretStr | None = env("DECODER_API_KEY", None, "API key for `DECODER_URL`.")
    decoder_model: str | None = env(
        "DECODER_MODEL",
        None,
        "The model's name at `DECODER_URL`; without that a GGUF file for llama.cpp "
        "(`pip install 'ctx-engine[llm]'`): its path, `package:file` for one inside an installed "
        "Python package, or the name of a model that `ctx model pull` fetched.",
    )
    decoder_timeout_seconds: float = env(
        "DECODER_TIMEOUT_SECONDS", 120.0, "Longest time for one text of the decoder.", gt=0
    )
    decoder_context_tokens: int = env(
        "DECODER_CONTEXT_TOKENS",
        8192,
        "Tokens of a prompt and its answer together; a server must allow as many.",
        ge=512,
    )

    glm_api_base: AnyHttpUrl = env(
        "GLM_API_BASE", AnyHttpUrl("https://api.z.ai/api/paas/v4/"), "URL of GLM's API."
    )
    glm_api_key: SecretStr | None = env("GLM_API_KEY", None, "API key for GLM.")
    glm_model: str = env("GLM_MODEL", "glm-4.6", "Model of GLM.")
    minimax_api_base: AnyHttpUrl = env(
        "MINIMAX_API_BASE", AnyHttpUrl("https://api.minimax.io/v1"), "URL of MiniMax's API."
    )
    minimax_api_key: SecretStr | None = env("MINIMAX_API_KEY", None, "API key for MiniMax.")
    minimax_model: str = env("MINIMAX_MODEL", "MiniMax-M2", "Model of MiniMax.")
    model_hub: AnyHttpUrl = env(
        "CTX_MODEL_HUB",
        AnyHttpUrl("https://huggingface.co"),
        "Where `ctx model pull` fetches GGUF files.",
    )

    @property
    def code_model(self) -> str:
        """The embedding model of the indexer."""
        return self.embedding_model or CODE_MODEL

    @property
    def memory_model(self) -> str:
        """The embedding model of the memory server."""
        return self.memory_embedding_model or self.embedding_model or PROSE_TRANSFORMER
