"""The checks of `ctx doctor`: everything ctx needs, and how to fix what is wrong."""

import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx.code_index import index_findings, workspace_findings
from ctx.finding import Finding
from ctx.install.earlier import earlier_entries
from ctx.reconciliation import Confirm, fix_entries, records_findings
from ctx.servers import ServerStatus, connection_of, server_statuses
from ctx_core.blocking import DISK
from ctx_core.embedding.factory import open_embedder
from ctx_core.engine.engine import open_vectors, prepare_data_dir
from ctx_core.environment.ports import HEALTH_OFFSET
from ctx_core.errors import CtxError, SettingsInvalid
from ctx_core.memories.collection import spec as memory_spec
from ctx_core.settings import Settings, ignored_settings, load
from ctx_core.vectors.folder_lock import Owner, folder_owner
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.spec_check import spec_problem
from ctx_core.vectors.specs import CollectionInfo, EmbeddingModel
from ctx_indexer.schema.points import spec as code_spec
from ctx_memory.records.entry import EntryKind
from ctx_memory.search.points import entry_spec

OLDEST_PYTHON = (3, 11)
POINTS_PER_READ = 500
LEAST_FREE_BYTES = 1024**3  # an index of a large repository and its embedding cache


@dataclass(frozen=True)
class Models:
    """The models that collections of code and of entries should be built with."""

    code: EmbeddingModel
    memory: EmbeddingModel

    def outdated(self, info: CollectionInfo, settings: Settings) -> list[str]:
        """Return what to do about a collection that must be rebuilt; nothing where it is current.

        A collection of an earlier version has no purpose: it is known by its configured name.
        """
        expected = {
            settings.collection_name: code_spec(self.code),
            settings.memory_collection_name: memory_spec(self.memory),
            settings.threads_collection_name: entry_spec(EntryKind.THREAD, self.memory),
            settings.conversations_collection_name: entry_spec(EntryKind.MESSAGE, self.memory),
        }
        by_purpose = {spec.purpose: spec for spec in expected.values()}
        spec = by_purpose.get(info.spec.purpose) or expected.get(info.name)
        problem = spec and spec_problem(info.name, info.spec, spec)
        return [problem] if problem else []


def refuse(_: str) -> bool:
    """Confirm nothing."""
    return False


async def diagnose(*, fix: bool = False, confirm: Confirm = refuse) -> Sequence[Finding]:
    """Run every check, in the order in which they depend on each other; `fix` repairs Qdrant.

    `confirm` is asked before entries that the records never knew are deleted.
    """
    try:
        settings = load()
    except SettingsInvalid as error:
        advice = "Correct the environment, or ctx.toml; docs/configuration.md lists every setting."
        return [_python(), Finding("settings", "fail", error.message, advice)]
    findings = [_python(), _settings(), _data_folder(settings)]
    if findings[-1].state == "fail":
        return findings
    statuses = await server_statuses(connection_of(settings))
    owner = folder_owner(settings.vectors_dir)
    findings += [_server(status) for status in statuses if status.running]
    findings += _ports(settings, statuses)
    finding, models = await DISK.run(_embedding, settings)
    findings.append(finding)
    found, collections = await _qdrant(settings, owner, statuses, models)
    findings += found
    if collections:
        findings += await index_findings(settings)
    findings += await workspace_findings(settings)
    findings += await DISK.run(lambda: [*earlier_entries(Path.home(), Path())])
    if fix:
        findings += await fix_entries(settings, owner, confirm)
    return [*findings, *await records_findings(settings, owner, collections)]


def _python() -> Finding:
    found = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("python", "ok", found)
    return Finding("python", "fail", found, "Install Python 3.11 or newer.")


def _settings() -> Finding:
    if sentences := ignored_settings():
        fix = "Unset the variables; `ctx settings unset NAME` takes one out of ctx.toml."
        return Finding("settings", "warn", "; ".join(sentences), fix)
    return Finding("settings", "ok", "all valid")


def _data_folder(settings: Settings) -> Finding:
    folder = settings.data_dir
    probe = folder / ".doctor"
    try:
        prepare_data_dir(settings)
        probe.write_text("")
        probe.unlink()
    except (CtxError, OSError) as error:
        fix = "Make the folder writable, or set CTX_DATA_DIR to another one."
        return Finding("data folder", "fail", str(error), fix)
    free = shutil.disk_usage(folder).free
    detail = f"{folder}, {free / 1024**3:.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        fix = "Free some space, or set CTX_DATA_DIR to a folder on another disk."
        return Finding("data folder", "warn", detail, fix)
    return Finding("data folder", "ok", detail)


def _server(status: ServerStatus) -> Finding:
    name = f"{status.service} server"
    if status.ready:
        return Finding(name, "ok", f"ready at {status.url}")
    reasons = "; ".join(f"{part}: {why}" for part, why in status.checks.items() if why != "ok")
    return Finding(name, "fail", reasons, "Fix what it names; its log has more.")


def _ports(settings: Settings, statuses: Sequence[ServerStatus]) -> list[Finding]:
    """Check that the ports of servers that do not run are free."""
    ports = {"memory": settings.memory_ports, "indexer": settings.indexer_ports}
    needed = [
        port + offset
        for status in statuses
        if not status.running
        for port in ports[status.service]
        for offset in (0, HEALTH_OFFSET)
    ]
    taken = [port for port in needed if not _free(settings.host, port)]
    if taken:
        detail = f"in use by another program: {', '.join(map(str, taken))}"
        fix = "Stop that program, or choose other ports with the CTX_*_PORT settings."
        return [Finding("ports", "fail", detail, fix)]
    return [Finding("ports", "ok", "free")] if needed else []


def _free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError:
        return False
    return True


def _embedding(settings: Settings) -> tuple[Finding, Models | None]:
    names = {settings.code_model, settings.memory_model}  # a model that both use is loaded once
    try:
        loaded = {name: _load_model(settings, name) for name in names}
    except CtxError as error:
        fix = (
            "Unset EMBEDDING_MODEL and MEMORY_EMBEDDING_MODEL to use the models that ship with ctx."
        )
        return Finding("embedding model", "fail", error.message, fix), None
    models = Models(loaded[settings.code_model], loaded[settings.memory_model])
    used = {"code": models.code, "memories": models.memory}
    detail = ", ".join(f"{name} with {m.name} ({m.dims} dimensions)" for name, m in used.items())
    return Finding("embedding model", "ok", detail), models


def _load_model(settings: Settings, name: str) -> EmbeddingModel:
    """Load a model and embed a word with it. Raises ModelUnavailable."""
    embedder = open_embedder(name, settings.embedding_cache_path)
    try:
        embedder.embed_query("hello")
    finally:
        embedder.close()
    return EmbeddingModel(embedder.name, embedder.dims)


async def _qdrant(
    settings: Settings, owner: Owner | None, statuses: Sequence[ServerStatus], models: Models | None
) -> tuple[list[Finding], Sequence[CollectionInfo]]:
    """Check the vector store, and list its collections.

    A folder that a running process owns is not opened.
    """
    if owner is not None and settings.qdrant_url is None:
        detail = f"owned by process {owner.pid} ({owner.command}) since {owner.since}"
        if not any(status.running for status in statuses):
            fix = f"It answers on other ports, or hangs: look at it, or stop it (kill {owner.pid})."
            return [Finding("qdrant", "warn", detail, fix)], []
        return _advised(detail, [text for status in statuses for text in status.advice]), []
    try:
        async with open_vectors(settings) as vectors:
            await vectors.ping()
            infos = await vectors.list_collections()
            if settings.qdrant_url is None:
                await _read_all(vectors, infos)
            advice = await vectors.advice()
            detail = f"{vectors.engine}, {len(infos)} collections"
    except CtxError as error:
        fix = "Do what the message says, then try again."
        return [Finding("qdrant", "fail", error.message, fix)], []
    outdated_ = [
        text for info in infos for text in (models.outdated(info, settings) if models else ())
    ]
    return _advised(detail, [*([advice] if advice else []), *outdated_]), infos


async def _read_all(vectors: VectorStore, infos: Sequence[CollectionInfo]) -> None:
    """Read every point, so that damaged files are noticed. Raises StorageFailed."""
    for info in infos:
        offset: str | None = None
        while True:
            _, offset = await vectors.scroll(info.name, limit=POINTS_PER_READ, offset=offset)
            if offset is None:
                break


def _advised(detail: str, advice: Sequence[str]) -> list[Finding]:
    """Warn once for each advice, which both servers may give."""
    warnings = [Finding("qdrant", "warn", detail, text) for text in dict.fromkeys(advice)]
    return warnings or [Finding("qdrant", "ok", detail)]
