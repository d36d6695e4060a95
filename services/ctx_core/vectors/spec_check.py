"""Compare the spec of a stored collection with the one a caller expects."""

from ctx_core.errors import InvalidInput, ModelMismatch
from ctx_core.vectors.specs import CollectionSpec


def check_spec(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    """Check that a stored collection can serve the expected spec.

    Raises InvalidInput where it holds something else, ModelMismatch where it must be rebuilt.
    """
    if expected.purpose and stored.purpose and stored.purpose != expected.purpose:
        raise InvalidInput(
            "collection", f"{name!r} holds {stored.purpose}, not {expected.purpose}: name another"
        )
    _check_model(name, stored, expected)
    if expected.purpose and not stored.purpose:
        raise ModelMismatch(
            f"collection {name} does not say that it holds {expected.purpose}: an earlier version "
            f"of ctx, or another program, built it; {_remedy(name, stored, expected)}",
            collection=name,
        )
    _check_vectors(name, stored, expected)


def spec_problem(name: str, stored: CollectionSpec, expected: CollectionSpec) -> str | None:
    """Return why a stored collection cannot serve the expected spec; None where it can."""
    try:
        check_spec(name, stored, expected)
    except (InvalidInput, ModelMismatch) as error:
        return error.message
    return None


def has_vectors(stored: CollectionSpec, expected: CollectionSpec) -> bool:
    """Whether a stored collection has every expected vector, of whatever dims."""
    return all(has is not None for _, _, has, _ in _vectors(stored, expected))


def rebuild_command(name: str, spec: CollectionSpec) -> str:
    """Return the shell command that rebuilds a collection; empty where its spec names none."""
    return spec.rebuild_command.replace("{collection}", name)


def _check_model(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    built, configured = stored.model, expected.model
    if built and configured and built != configured:
        raise ModelMismatch(
            f"collection {name} was built with model {built.name} ({built.dims} dims), the "
            f"configured one is {configured.name} ({configured.dims} dims); "
            f"{_remedy(name, stored, expected)}",
            collection=name,
            built_with=built.name,
            configured=configured.name,
        )


def _check_vectors(name: str, stored: CollectionSpec, expected: CollectionSpec) -> None:
    for vector_name, kind, has, needs in _vectors(stored, expected):
        if has != needs:
            raise ModelMismatch(
                f"collection {name} has {_dims(kind, has)} for the vector {vector_name!r}, and "
                f"{_dims(kind, needs)} are needed; {_remedy(name, stored, expected)}",
                collection=name,
                vector=vector_name,
            )


def _vectors(
    stored: CollectionSpec, expected: CollectionSpec
) -> list[tuple[str, str, int | None, int]]:
    """Return (vector name, kind, stored dims, expected dims); a sparse vector has 0 dims."""
    return [
        *((n, "dense", stored.dense.get(n), dims) for n, dims in expected.dense.items()),
        *((n, "sparse", 0 if n in stored.sparse else None, 0) for n in expected.sparse),
    ]


def _dims(kind: str, dims: int | None) -> str:
    if dims is None:
        return "nothing"
    return f"{kind} values of {dims} dims" if dims else f"{kind} values"


def _remedy(name: str, stored: CollectionSpec, expected: CollectionSpec) -> str:
    """Name the command that rebuilds the collection while it stays searchable."""
    command = rebuild_command(name, expected) or "the command of its owner"
    setting, built = expected.model_setting, stored.model
    undo = setting and built and built != expected.model
    back = f", or set {setting} back to {built.name}" if undo and built else ""
    return f"rebuild it with: {command}{back}"
