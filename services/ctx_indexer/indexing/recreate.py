"""Recreates a collection: one repo from its files, the others copied from the old collection."""

import contextlib
import logging
from contextlib import aclosing
from dataclasses import replace

from ctx_core.errors import CtxError, InvalidInput, StorageFailed
from ctx_core.vectors.specs import BROKEN, CollectionInfo
from ctx_indexer.indexing.copy import copy_repos
from ctx_indexer.indexing.report import IndexReport
from ctx_indexer.indexing.run import IndexRun
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.rows import RepoKey
from ctx_indexer.schema.fields import version_id
from ctx_indexer.schema.points import holds_code, spec

log = logging.getLogger(__name__)


async def recreate(run: IndexRun, checkout: Checkout) -> IndexReport:
    """Build a collection anew and swap it in; the old one answers until then.

    Rows are written under the name of the new collection until the swap, so a run that is cut
    short changes nothing. Raises InvalidInput for a collection of something else.
    """
    key = checkout.key
    old = await _old_collection(run, key)
    await run.manifest.checkouts.remove_builds(key.store, key.collection)
    built = await run.store.build(key.collection, spec(run.embedder))
    try:
        target = replace(key, collection=built)
        if old is not None:
            await _copy_others(run, old, target, checkout)
        record = run.manifest.checkouts.record
        building = await record(target, checkout.root, linked=checkout.linked)
        report = await run.update(building)
    except BaseException:
        with contextlib.suppress(CtxError):
            await run.store.delete_collection(built)
        raise
    await run.store.swap(key.collection, built)
    await run.manifest.checkouts.promote(checkout, building)
    return replace(report, collection=key.collection, copied=run.progress.copied)


async def is_earlier(run: IndexRun, key: RepoKey, info: CollectionInfo) -> bool:
    """Whether a collection is one of code that does not say so, as earlier versions built it."""
    return not info.spec.purpose and bool(await _known_repos(run, key))


async def _copy_others(
    run: IndexRun, old: CollectionInfo, target: RepoKey, checkout: Checkout
) -> None:
    """Copy the other repos, and the versions that only other checkouts of this one have.

    A collection may prove damaged meanwhile: the chunks that were read before stay.
    """
    await run.progress.tell("copying")
    versions = await run.manifest.versions.of_repo(checkout.key)
    hidden = await run.manifest.files.hidden(checkout)
    kept = [versions[each] for each in hidden if versions[each].done]
    await run.manifest.versions.begin(target, kept)
    numbers = [version_id(checkout.repo, *row.version) for row in kept]
    pages = copy_repos(
        run.store, run.embedder, old, target.collection, excluded=checkout.repo, versions=numbers
    )
    try:
        async with aclosing(pages):
            async for copied in pages:
                run.progress.copied = copied
                await run.progress.tell("copying")
    except StorageFailed as error:
        if not await _is_broken(run, checkout.key):
            raise
        log.warning("%s: index the other repos of it again", error.message)


async def _old_collection(run: IndexRun, key: RepoKey) -> CollectionInfo | None:
    """Return the collection to copy from; None for one of code that cannot be loaded.

    Raises InvalidInput for a collection of something else.
    """
    try:
        info = await run.store.collection_info(key.collection)
    except StorageFailed as error:
        if not await _is_broken(run, key):
            raise
        log.warning("%s: every other repo of it must be indexed again", error.message)
        return None
    if not holds_code(info) and not await is_earlier(run, key, info):
        raise InvalidInput(
            "collection", f"{key.collection!r} holds something else than code: name another"
        )
    return None if info.status == BROKEN else info


async def _is_broken(run: IndexRun, key: RepoKey) -> bool:
    """Whether a collection that the manifest knows cannot be loaded."""
    statuses = {info.name: info.status for info in await run.store.list_collections()}
    return statuses.get(key.collection) == BROKEN and bool(await _known_repos(run, key))


async def _known_repos(run: IndexRun, key: RepoKey) -> set[str]:
    return await run.manifest.versions.repos(key.store, key.collection)
