"""Chunks as INDEX_VERSION 3 stored them: read once more, when their collection is recreated."""

import json

from ctx_core.vectors.points import Payload
from ctx_indexer.schema import fields
from ctx_indexer.schema.payload import ChunkPayload
from ctx_indexer.source.classify import FileFlags
from ctx_indexer.syntax.references import Reference

EARLIER_BM25 = "lex"  # the name of the BM25 vector
_DETAILS = "told"


def decode_earlier(payload: Payload) -> ChunkPayload | None:
    """Decode a payload of version 3; None for one of any other version."""
    try:
        details = json.loads(payload[_DETAILS])
        flags = FileFlags(
            is_test=payload[fields.IS_TEST],
            is_config=payload[fields.IS_CONFIG],
            is_docs=payload[fields.IS_DOCS],
            is_generated=details.pop("is_generated"),
            is_vendored=details.pop("is_vendored"),
        )
        return ChunkPayload(
            repo=payload[fields.REPO],
            path=payload[fields.PATH],
            language=payload[fields.LANGUAGE],
            kind=payload[fields.KIND],
            kinds=(payload[fields.KIND],),
            definitions=(),
            symbols=tuple(payload[fields.SYMBOLS]),
            text=payload[fields.TEXT],
            imports=tuple(Reference(*each) for each in details.pop("imports")),
            calls=tuple(Reference(*each) for each in details.pop("calls")),
            flags=flags,
            **details,
        )
    except (KeyError, TypeError, ValueError):
        return None
