"""`ctx doctor`: checks everything ctx stands on, and says how to mend what is wrong."""

import argparse
import asyncio
import json
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from ctx.servers import Answer, ask_all
from services.core.embedding.factory import open_embedder
from services.core.engine.engine import open_engine, open_vectors, outdated, prepare_data_dir
from services.core.errors import CtxError, SettingsInvalid
from services.core.settings import HEALTH_PORT_OFFSET, Settings, load
from services.core.vectors.folder_lock import Owner, who_owns
from services.core.vectors.types import CollectionInfo, EmbeddingModel
from services.core.vectors.validation import holds_code
from services.memory.records.health import examine

if TYPE_CHECKING:
    from services.memory.projection.compare import Drift

OLDEST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 1024**3  # an index of a large repository and its embedding cache
MARKS = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}


@dataclass(frozen=True)
class Models:
    """What each kind of collection should be built with."""

    code: EmbeddingModel
    memory: EmbeddingModel

    def outdated(self, info: CollectionInfo) -> list[str]:
        return outdated(info, self.code if holds_code(info.spec) else self.memory)


@dataclass(frozen=True)
class Finding:
    """The outcome of one check, and what to do about it."""

    check: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    mend: str = ""


def run(arguments: argparse.Namespace) -> int:
    """0 when nothing failed, 1 otherwise."""
    findings = asyncio.run(diagnose(fix=arguments.fix))
    failed = any(finding.state == "fail" for finding in findings)
    if arguments.json:
        print(json.dumps({"ok": not failed, "findings": [asdict(f) for f in findings]}, indent=2))
    else:
        print("\n".join(_line(finding) for finding in findings))
        print(f"\n{_verdict(findings)}")
    return 1 if failed else 0


def _verdict(findings: Sequence[Finding]) -> str:
    states = {finding.state for finding in findings}
    if "fail" in states:
        return "Something needs mending: see above."
    return "Something should be looked at: see above." if "warn" in states else "All is well."


async def diagnose(*, fix: bool = False) -> Sequence[Finding]:
    """Every check, in the order in which they depend on each other; then `fix` mends Qdrant."""
    try:
        settings = load()
    except SettingsInvalid as error:
        mend = "Correct the environment; docs/configuration.md lists every setting."
        return [_python(), Finding("settings", "fail", error.message, mend)]
    findings = [_python(), Finding("settings", "ok", "all valid"), _data_folder(settings)]
    if findings[-1].state == "fail":
        return findings
    answers = ask_all(settings)
    owner = who_owns(settings.vectors_dir)
    findings += [_server(answer) for answer in answers if answer.running]
    findings += _ports(settings, answers)
    finding, models = await asyncio.to_thread(_embedding, settings)
    findings.append(finding)
    findings += await _qdrant(settings, owner, answers, models)
    findings += await _fixed(settings, owner) if fix else [await _records(settings)]
    return findings


def _python() -> Finding:
    found = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("python", "ok", found)
    return Finding("python", "fail", found, "Install Python 3.11 or newer.")


def _data_folder(settings: Settings) -> Finding:
    folder = settings.data_dir
    probe = folder / ".doctor"
    try:
        prepare_data_dir(settings)
        probe.write_text("")
        probe.unlink()
    except (CtxError, OSError) as error:
        mend = "Make the folder writable, or set CTX_DATA_DIR to another one."
        return Finding("data folder", "fail", str(error), mend)
    free = shutil.disk_usage(folder).free
    detail = f"{folder}, {free / 1024**3:.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        mend = "Free some space, or set CTX_DATA_DIR to a folder on another disk."
        return Finding("data folder", "warn", detail, mend)
    return Finding("data folder", "ok", detail)


def _server(answer: Answer) -> Finding:
    name = f"{answer.service} server"
    if answer.ready:
        return Finding(name, "ok", f"ready at {answer.url}")
    reasons = "; ".join(f"{part}: {why}" for part, why in answer.checks.items() if why != "ok")
    return Finding(name, "fail", reasons, "Mend what it names; its log has more.")


def _ports(settings: Settings, answers: Sequence[Answer]) -> list[Finding]:
    """Ports of servers that do not run must be free."""
    ports = {"memory": settings.memory_ports, "indexer": settings.indexer_ports}
    wanted = [
        port + offset
        for answer in answers
        if not answer.running
        for port in ports[answer.service]
        for offset in (0, HEALTH_PORT_OFFSET)
    ]
    taken = [port for port in wanted if not _free(settings.host, port)]
    if taken:
        detail = f"in use by another program: {', '.join(map(str, taken))}"
        mend = "Stop that program, or choose other ports with the CTX_*_PORT settings."
        return [Finding("ports", "fail", detail, mend)]
    return [Finding("ports", "ok", "free")] if wanted else []


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
        tried = {name: _tried(settings, name) for name in names}
    except CtxError as error:
        mend = (
            "Unset EMBEDDING_MODEL and MEMORY_EMBEDDING_MODEL to use the models that ship with ctx."
        )
        return Finding("embedding model", "fail", error.message, mend), None
    models = Models(tried[settings.code_model], tried[settings.memory_model])
    used = {"code": models.code, "memories": models.memory}
    detail = ", ".join(f"{name} with {m.name} ({m.dims} dimensions)" for name, m in used.items())
    return Finding("embedding model", "ok", detail), models


def _tried(settings: Settings, name: str) -> EmbeddingModel:
    """A model that has embedded something."""
    embedder = open_embedder(name, settings.embedding_cache_path)
    try:
        embedder.embed_query("hello")
    finally:
        embedder.close()
    return EmbeddingModel(embedder.name, embedder.dims)


async def _qdrant(
    settings: Settings, owner: Owner | None, answers: Sequence[Answer], models: Models | None
) -> list[Finding]:
    """A folder that a process owns is not opened: that process was asked instead."""
    if owner is not None and settings.qdrant_url is None:
        detail = f"owned by process {owner.pid} ({owner.command}) since {owner.since}"
        if not any(answer.running for answer in answers):
            mend = (
                f"It answers on other ports, or hangs: look at it, or stop it (kill {owner.pid})."
            )
            return [Finding("qdrant", "warn", detail, mend)]
        return _advised(detail, [text for answer in answers for text in answer.advice])
    try:
        async with open_vectors(settings) as vectors:
            await vectors.ping()
            infos = await vectors.list_collections()
            advice = await vectors.advice()
            detail = f"{vectors.engine}, {len(infos)} collections"
    except CtxError as error:
        mend = "Do what the message says, then try again."
        return [Finding("qdrant", "fail", error.message, mend)]
    old = [text for info in infos for text in (models.outdated(info) if models else ())]
    return _advised(detail, [*([advice] if advice else []), *old])


async def _records(settings: Settings) -> Finding:
    """The records are looked at only: a start migrates them, this does not."""
    try:
        health = await examine(settings.records_url)
    except CtxError as error:
        return Finding("records", "fail", error.message, "Do what the message says.")
    if not health.is_current:
        return Finding("records", "ok", f"{health.name}, made ready at the next start")
    detail = f"{health.name}, {health.entries} entries, {health.waiting} wait for Qdrant"
    if health.problems:
        detail += f"; {len(health.problems)} cannot be written: {health.problems[0]}"
        return Finding("records", "warn", detail, "Correct these entries, or delete them.")
    return Finding("records", "ok", detail)


async def _fixed(settings: Settings, owner: Owner | None) -> list[Finding]:
    """Make Qdrant equal to the records."""
    if owner is not None and settings.qdrant_url is None:
        detail = f"not done: process {owner.pid} ({owner.command}) owns the vectors"
        mend = "Stop it and run `ctx doctor --fix` again; its next start heals most things too."
        return [Finding("reconcile", "fail", detail, mend)]
    try:
        differences = await _reconcile(settings)
    except CtxError as error:
        return [Finding("reconcile", "fail", error.message, "Do what the message says.")]
    findings = [
        Finding(
            "reconcile",
            "ok",
            f"{collection}: {len(found.missing)} missing and {len(found.outdated)} outdated "
            f"entries written, {len(found.strays)} stray entries removed",
        )
        for collection, found in differences.items()
    ]
    return [*findings, await _records(settings)]


async def _reconcile(settings: Settings) -> "dict[str, Drift]":
    from services.memory.service import open_outbox, open_records  # noqa: PLC0415 - slow to import

    async with open_engine(settings, settings.memory_model) as engine:
        records = await open_records(settings)
        try:
            return await open_outbox(settings, engine, records).reconcile()
        finally:
            await records.close()


def _advised(detail: str, advice: Sequence[str]) -> list[Finding]:
    """Both servers may say the same."""
    told = [Finding("qdrant", "warn", detail, text) for text in dict.fromkeys(advice)]
    return told or [Finding("qdrant", "ok", detail)]


def _line(finding: Finding) -> str:
    line = f"{MARKS[finding.state]}  {finding.check:<16} {finding.detail}"
    return f"{line}\n      → {finding.mend}" if finding.mend else line
