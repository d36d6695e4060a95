"""A small collection whose results can be computed by hand."""

from collections.abc import Sequence
from uuid import UUID

from ctx_core.vectors.points import Hit, Point, Record, Sparse, Vector
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Query
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, IndexKind

EIGHT_BITS = 0.005  # how far a score may be off where dense vectors are kept in eight bits
MODEL = EmbeddingModel("tiny", 4)
SPEC = CollectionSpec(
    dense={"dense": 4},
    sparse=("bm25",),
    indexes={
        "lang": IndexKind.KEYWORD,
        "n": IndexKind.INTEGER,
        "test": IndexKind.BOOL,
        "at": IndexKind.DATETIME,
    },
    model=MODEL,
    purpose="samples",
    rebuild_command="rebuild {collection}",
    model_setting="SAMPLE_MODEL",
)


def uid(number: int) -> str:
    return str(UUID(int=number))


def numbers(found: Sequence[Record] | Sequence[Hit]) -> list[int]:
    return [UUID(record.id).int for record in found]


async def one_query(store: VectorStore, collection: str, query: Query) -> Sequence[Hit]:
    [hits] = await store.query_batch(collection, [query])
    return hits


def point(number: int, payload: dict[str, object] | None = None, **vectors: Vector) -> Point:
    return Point(uid(number), vectors or {"dense": [1.0, 0.0, 0.0, float(number)]}, payload or {})


# Dense: cosine with [1, 0, 0, 0] falls from 1 to 4. Term 7 of `bm25` is in 3 and 4 only.
POINTS = (
    Point(
        uid(1),
        {
            "dense": [1.0, 0.0, 0.0, 0.0],
            "bm25": Sparse([1, 2], [1.0, 2.0]),
        },
        {
            "lang": "python",
            "n": 1,
            "ratio": 0.5,
            "test": True,
            "at": "2024-01-01T12:00:00+00:00",
            "text": "The quick brown fox",
            "note": None,
            "tags": [],
            "calls": [{"name": "open", "line": 3}, {"name": "close", "line": 9}],
            "title": "snow ☃ 雪 ü",
        },
    ),
    Point(
        uid(2),
        {"dense": [1.0, 1.0, 0.0, 0.0], "bm25": Sparse([2], [1.0])},
        {
            "lang": "go",
            "n": 2,
            "ratio": 1.5,
            "test": False,
            "at": "2024-01-02T12:00:00+02:00",
            "text": "a lazy dog sleeps",
            "tags": ["slow"],
            "calls": [{"name": "open", "line": 9}],
        },
    ),
    Point(
        uid(3),
        {"dense": [1.0, 2.0, 0.0, 0.0], "bm25": Sparse([2, 7], [1.0, 1.0])},
        {
            "lang": ["python", "go"],
            "n": 3,
            "test": True,
            "at": "2024-01-03T00:00:00Z",
            "text": "quick dog",
        },
    ),
    Point(
        uid(4),
        {"dense": [0.0, 1.0, 0.0, 0.0], "bm25": Sparse([2, 7], [1.0, 4.0])},
        {"lang": "rust", "n": 4, "ratio": -2.0, "kind": "function"},
    ),
)
