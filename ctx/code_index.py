"""The part of `ctx doctor` about the code index: what is indexed, and whether it is whole."""

from dataclasses import asdict

from ctx.commands.servers.status import workspace_line
from ctx.finding import Finding
from ctx.workspaces import indexed_workspaces
from ctx_core.blocking import DISK
from ctx_core.engine.engine import open_engine
from ctx_core.errors import CtxError
from ctx_core.settings import Settings


async def index_findings(settings: Settings) -> list[Finding]:
    """Warn of each repo whose index is not the one that the manifest describes."""
    from ctx_core.serving.sessions import SessionDefaults
    from ctx_indexer.service import open_context

    try:
        async with open_engine(settings, settings.code_model) as engine:
            sessions = SessionDefaults()
            context = await DISK.run(open_context, settings, engine, sessions)
            try:
                problems = await context.indexer.check(settings.collection_name)
            finally:
                context.close()
    except CtxError as error:
        return [Finding("code index", "fail", error.message, "Do what the message says.")]
    return [Finding("code index", "warn", text, "Run what it names.") for text in problems]


async def workspace_findings(settings: Settings) -> list[Finding]:
    """Tell what is indexed, and how old it is."""
    try:
        found = await indexed_workspaces(settings.data_dir)
    except CtxError as error:
        return [Finding("indexed", "fail", error.message, "Index again: ctx index FOLDER")]
    if not found:
        return [Finding("indexed", "ok", "nothing yet; index a project: ctx index FOLDER")]
    return [Finding("indexed", "ok", workspace_line(asdict(each)).strip()) for each in found]
