"""The part of `ctx doctor` that compares the code index with its manifest."""

from ctx.finding import Finding
from services.core.blocking import DISK
from services.core.engine.engine import open_engine
from services.core.errors import CtxError
from services.core.settings import Settings


async def index_findings(settings: Settings) -> list[Finding]:
    """Warn of each repo whose index is not the one that the manifest describes."""
    from services.core.serving.sessions import SessionDefaults
    from services.indexer.service import open_context

    try:
        async with open_engine(settings, settings.code_model) as engine:
            sessions = SessionDefaults(reserved=settings.memory_collection_name)
            context = await DISK.run(open_context, settings, engine, sessions)
            try:
                problems = await context.indexer.check(settings.collection_name)
            finally:
                context.close()
    except CtxError as error:
        return [Finding("code index", "fail", error.message, "Do what the message says.")]
    return [Finding("code index", "warn", text, "Run what it names.") for text in problems]
