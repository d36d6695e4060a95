"""Composes the indexer server."""

import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from ctx_core.background import BackgroundTasks
from ctx_core.blocking import DISK
from ctx_core.embedding.protocol import Embedder
from ctx_core.engine.engine import Engine
from ctx_core.engine.query_model import QueryModelResolver
from ctx_core.errors import InvalidInput, ModelUnavailable, SettingsInvalid, StorageFailed
from ctx_core.llm.factory import open_decoder
from ctx_core.llm.protocol import StreamingDecoder
from ctx_core.memories.reader import MemoryReader
from ctx_core.memories.results import MemoryWriter
from ctx_core.rerank.reranker import open_stage
from ctx_core.serving.service import Reach, Service, reaching
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_core.settings.models import CODE_MODEL
from ctx_core.vectors.specs import CollectionSpec
from ctx_indexer.answers.answerer import Answerer
from ctx_indexer.answers.expansion import Expander
from ctx_indexer.answers.retrieval import Retriever
from ctx_indexer.answers.writer import Writer
from ctx_indexer.history.history import History
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.lease import ServerLeases
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.points import spec
from ctx_indexer.search.rerank import CodeReranker
from ctx_indexer.search.searcher import Searcher
from ctx_indexer.source.walk import FileLimits
from ctx_indexer.source.workspace import WorkspacePath, Workspaces, resolve_workspace
from ctx_indexer.tools import indexer_tools
from ctx_indexer.tools.answers import AnswerParts
from ctx_indexer.tools.context import IndexerContext, InfoDefaults
from ctx_indexer.tools.index import owner_tools
from ctx_indexer.tools.questions import QuestionParts
from ctx_indexer.view.reachable import reachable
from ctx_indexer.view.views import ViewDefaults, Views
from ctx_indexer.watch.watch import Watch

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "The code that is being worked on. `exact_search` for names, strings and all that must be "
    "complete; `repo_search` for questions and what has no known name; `search_callers_for` for "
    "who calls; `read_code` for a definition, lines or an outline. `qdrant_index` when an answer "
    "says that the index is behind. `memory_store` keeps what was learned."
)


@dataclass(frozen=True)
class IndexerServer:
    """The service, with the context for callers in the same process."""

    service: Service
    context: IndexerContext

    def begin(self, folder: Path) -> None:
        """Index a folder now and follow it from then on, beside the calls of the server.

        Does nothing in a server that does not follow files.
        """
        watch = self.context.watch
        if watch is not None:
            repo = self.context.repo_of(WorkspacePath(folder, ""))
            watch.begin(folder, self.context.default_collection, repo)


@contextlib.asynccontextmanager
async def open_indexer(
    settings: Settings,
    engine: Engine,
    memories: MemoryWriter,
    memory_embedder: Embedder | None = None,
    *,
    follow: bool = False,
) -> AsyncIterator[IndexerServer]:
    """Open the indexer over a shared engine; `memory_store` writes to `memories`.

    `memory_embedder` is the memory server's model, where that runs in the same process. With
    `follow` it keeps the index of every workspace up to date, unless CTX_WATCH is off.
    """
    sessions = SessionDefaults()
    context = await DISK.run(open_context, settings, engine, sessions)
    reached = reachable(engine.vectors)
    code = replace(engine, vectors=reached)
    follows = follow and settings.watch
    watch = Watch(context.indexer, shares=settings.shared_index) if follows else None
    context = replace(context, watch=watch)
    searcher = await open_searcher(settings, engine)
    tasks = BackgroundTasks()
    expected = {settings.collection_name: spec(engine.embedder)}
    lookup = Lookup.over(context.indexer.files, reached, FileTexts(context.indexer.limits))
    stack = contextlib.AsyncExitStack()
    decoder, problem = await _open_decoder(stack, settings)
    answers = _answer_parts(settings, Retriever(lookup.files, reached), code, decoder, problem)
    questions = QuestionParts(
        History(engine.vectors, engine.embedder, settings.history_commits),
        MemoryReader(
            reached, settings.memory_collection_name, settings.models_dir, memory_embedder
        ),
    )
    service = Service(
        name="indexer",
        instructions=INSTRUCTIONS,
        tools=reaching(
            indexer_tools(context, searcher, lookup, memories, answers, questions), Reach.CHECKED
        ),
        checks={
            "qdrant": engine.vectors.ping,
            "embedding": engine.check_model,
            "background": tasks.check,
        },
        http_port=settings.indexer_http_port,
        sse_port=settings.indexer_sse_port,
        advice=partial(_advice, engine, expected, context.indexer, decoder, problem),
        gauges={
            **engine.gauges(),
            **(watch.gauges() if watch else {}),
            "checkout_listings": lambda: float(context.indexer.checkouts.listings),
            "decoder_memory_bytes": lambda: float(decoder.memory_bytes if decoder else 0),
        },
        operation_times=engine.operation_times,
        details={"watch": lambda: [asdict(each) for each in watch.statuses()]} if watch else {},
        owner_tools=owner_tools(context),
    )
    check = partial(_check_index, context.indexer, settings.collection_name)
    try:
        async with stack:
            await stack.enter_async_context(
                tasks.run("the check of the code index", check, ends=True)
            )
            if watch is not None:
                await stack.enter_async_context(tasks.run("following files", watch.run))
            yield IndexerServer(service, context)
    finally:
        context.close()


async def _open_decoder(
    stack: contextlib.AsyncExitStack, settings: Settings
) -> tuple[StreamingDecoder | None, str]:
    """Open the configured decoder, or say why it cannot be: searches work without it."""
    try:
        return await stack.enter_async_context(open_decoder(settings)), ""
    except ModelUnavailable as error:
        log.warning("answers are extractive: %s", error.message)
        return None, error.message


def _answer_parts(
    settings: Settings,
    retriever: Retriever,
    engine: Engine,
    decoder: StreamingDecoder | None,
    problem: str,
) -> AnswerParts:
    answerer = Answerer(
        retriever,
        engine.vectors,
        None if decoder is None else Writer(decoder),
        by_meaning=engine.embedder.name == CODE_MODEL,
        context_tokens=settings.decoder_context_tokens,
        problem=problem,
    )
    return AnswerParts(
        answerer,
        Expander(decoder),
        settings.answer_budget_tokens,
        settings.decoder_timeout_seconds,
        settings.summary_seconds,
    )


async def _check_index(indexer: Indexer, collection: str) -> None:
    """Compare the code index with its manifest, and log what is wrong."""
    try:
        problems = await indexer.check(collection)
    except StorageFailed as error:  # the check of Qdrant is part of readiness
        problems = [f"the code index cannot be compared with its manifest: {error}"]
    for problem in problems:
        log.warning("%s", problem)


async def _advice(
    engine: Engine,
    expected: Mapping[str, CollectionSpec],
    indexer: Indexer,
    decoder: StreamingDecoder | None,
    problem: str,
) -> list[str]:
    notes = [f"answers are extractive: {problem}"] if problem else []
    if decoder is not None and decoder.memory_bytes:
        notes.append(f"the decoder {decoder.name} holds {decoder.memory_bytes // 1_000_000} MB")
    return [*await engine.advice(expected), *indexer.problems, *notes]


def _check_workspace(settings: Settings) -> None:
    """Raise SettingsInvalid where CTX_WORKSPACE is set to what cannot be indexed. Blocks."""
    if "workspace" not in settings.model_fields_set:
        return  # a client may start a server in any folder
    try:
        resolve_workspace(settings.workspace)
    except InvalidInput as error:
        raise SettingsInvalid(f"CTX_WORKSPACE: {error.details['message']}") from error


def open_context(settings: Settings, engine: Engine, sessions: SessionDefaults) -> IndexerContext:
    """Build the indexer and the defaults of its tools over a shared engine. Blocks."""
    _check_workspace(settings)
    indexer = Indexer(
        engine.vectors,
        engine.embedder,
        Manifest(settings.index_state_path),
        store_key=settings.store_key,
        reserved=settings.memory_collection_name,
        limits=FileLimits(max_file_bytes=settings.max_file_bytes),
        processes=settings.index_workers,
        leases=ServerLeases(engine.vectors) if settings.qdrant_url else None,
    )
    more = [Path(folder).expanduser() for folder in settings.workspace_roots]
    workspaces = Workspaces(settings.workspace.expanduser(), more)
    defaults = ViewDefaults(
        settings.collection_name,
        settings.current_repo if settings.repo_auto_filter else None,
        only_workspace=settings.repo_auto_filter,
        workspace=workspaces.root,
        host_folder=settings.host_workspace,
    )
    return IndexerContext(
        indexer=indexer,
        vectors=reachable(engine.vectors),
        workspaces=workspaces,
        sessions=sessions,
        views=Views(indexer.checkouts, sessions, defaults),
        memory_collection=settings.memory_collection_name,
        current_repo=settings.current_repo,
        vectors_dir=settings.vectors_dir,
        info=InfoDefaults(
            settings.info_request_limit,
            settings.info_request_context_lines,
            settings.info_request_explain_default,
            settings.info_request_relationships,
        ),
    )


async def open_searcher(settings: Settings, engine: Engine) -> Searcher:
    """Build the searcher, and load the configured reranker: at a start, not in a request."""
    stage = await DISK.run(
        open_stage, settings.rerank_model, settings.models_dir, settings.rerank_timeout_seconds
    )
    reranker = None
    if stage is not None:
        reranker = CodeReranker(
            stage,
            blend=settings.rerank_blend_weight,
            symbol_boost=settings.post_rerank_symbol_boost,
        )
    models = QueryModelResolver(engine.vectors, engine.embedder, settings.models_dir)
    return Searcher(reachable(engine.vectors), engine.embedder, reranker=reranker, models=models)
