"""The requests of the conversations dialect: one for each action of `context_memory`."""

import math
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from ctx_core.errors import RequestInvalid

M = TypeVar("M", bound=BaseModel)

MAX_PAGE = 1_000  # messages
MAX_ID = 256  # characters, as the tables have it
MAX_SIMILAR = 50
DEFAULT_SIMILAR = 5
DEFAULT_WEIGHT = 0.8
MAX_SEARCH_TEXT = 20_000  # characters: more than a model reads
MAX_TAGS = 50
MAX_SHOWN = 100  # characters of a wrong value in a message
MAX_CURSOR = 2**31 - 1  # the largest id of an entry
# An id has no control characters, and something beside spaces.
ID_PATTERN = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"
NO_NUL = r"^[^\x00]+$"  # PostgreSQL keeps no NUL

Importance = Literal["low", "medium", "high", "critical"]

VALUES: dict[Importance, float] = {"low": 0.25, "medium": 0.5, "high": 0.75, "critical": 1.0}
URGENT = re.compile(r"\b(critical|urgent|important|crucial)\b|!\w", re.IGNORECASE)
QUESTION = re.compile(r"\?|\b(how|what|why|when)\b", re.IGNORECASE)
SHORT = 20  # characters; a shorter text that neither asks nor urges has low importance
TOKENS_PER_WORD = 1.3


def _id(value: str) -> str:
    if not re.match(ID_PATTERN, value) or not _is_unicode(value):
        raise ValueError("must be Unicode text without control characters, not blank")
    return value


def _text(value: str) -> str:
    if not value or "\x00" in value or not _is_unicode(value):
        raise ValueError("must be Unicode text without NUL characters, not empty")
    return value


def _is_unicode(value: str) -> bool:
    """Whether a text has no half of a character: JSON can write one, no database keeps it."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _whole(value: Any) -> Any:
    """Return a number such as 5.0 as an integer, as JSON means it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, AfterValidator(_text), Field(json_schema_extra={"pattern": NO_NUL})]
ContextId = Annotated[
    str,
    Field(
        description="Identifier of a context.",
        max_length=MAX_ID,
        json_schema_extra={"pattern": ID_PATTERN},
    ),
    AfterValidator(_id),
]
Role = Literal["user", "assistant"]
Content = Annotated[Text, Field(description="Message content.")]
Tags = Annotated[
    list[Annotated[Text, Field(max_length=MAX_ID)]],
    Field(description="Tags of the message.", max_length=MAX_TAGS),
]
SearchText = Annotated[
    Text, Field(description="Text to find similar contexts for.", max_length=MAX_SEARCH_TEXT)
]
RelationName = Literal["similar", "continues", "references", "parent", "child"]
DirectionName = Literal["outgoing", "incoming", "both"]
Whole = BeforeValidator(_whole)  # after the limits, which else are missing in the JSON schema
PageLimit = Annotated[int, Field(ge=1, le=MAX_PAGE), Whole] | None
Cursor = Annotated[int, Field(ge=1, le=MAX_CURSOR), Whole] | None
SimilarLimit = Annotated[int, Field(ge=0, le=MAX_SIMILAR), Whole] | None


class _Request(BaseModel):
    """A request; fields of other actions are ignored, as the contract's one tool has them all."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, strict=True)

    context_id: ContextId = Field(alias="contextId")


class Add(_Request):
    action: Literal["add"]
    role: Role
    content: Content
    importance: Importance | None = None
    tags: Tags | None = None


class Retrieve(_Request):
    action: Literal["retrieve"]
    limit: PageLimit = None
    cursor: Cursor = None


class Summarize(_Request):
    action: Literal["summarize"]


class GetRelated(_Request):
    action: Literal["get_related"]
    type: RelationName | None = Field(None, alias="relationshipType")
    direction: DirectionName | None = None


class GetHierarchy(_Request):
    action: Literal["get_hierarchy"]


class GetMeta(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True, strict=True)

    action: Literal["get_meta"]
    meta_id: ContextId | None = Field(None, alias="metaId")


class FindSimilar(_Request):
    action: Literal["find_similar"]
    search_text: SearchText = Field(alias="searchText")
    limit: SimilarLimit = None


class AddRelationship(_Request):
    action: Literal["add_relationship"]
    target_id: ContextId = Field(alias="targetId")
    type: RelationName = Field(alias="relationshipType")
    strength: Annotated[float, Field(allow_inf_nan=False)] | None = None


class FindPath(_Request):
    action: Literal["find_path"]
    target_id: ContextId = Field(alias="targetId")


class Cleanup(_Request):
    action: Literal["cleanup"]
    undo: bool | None = None


Request = (
    Add
    | Retrieve
    | Summarize
    | GetRelated
    | GetHierarchy
    | GetMeta
    | FindSimilar
    | AddRelationship
    | FindPath
    | Cleanup
)
ACTIONS: Mapping[str, type[Request]] = {
    "add": Add,
    "retrieve": Retrieve,
    "summarize": Summarize,
    "get_related": GetRelated,
    "get_hierarchy": GetHierarchy,
    "get_meta": GetMeta,
    "find_similar": FindSimilar,
    "add_relationship": AddRelationship,
    "find_path": FindPath,
    "cleanup": Cleanup,
}
WRITING = frozenset({"add", "summarize", "add_relationship", "cleanup"})
# The parameters that an action needs beside its context, in the words of the contract.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "add": ("role", "content"),
    "find_similar": ("searchText",),
    "add_relationship": ("targetId", "relationshipType"),
    "find_path": ("targetId",),
}


def parse(given: Mapping[str, Any]) -> Request:
    """Return the request. Raises RequestInvalid in the words of the contract."""
    action = given.get("action")
    if not action or (action != "get_meta" and not given.get("contextId")):
        raise RequestInvalid("Missing required parameters: action and contextId are required")
    model = ACTIONS.get(action) if isinstance(action, str) else None
    if model is None:
        raise RequestInvalid(
            f"Unknown action: {_shown(action)}. Supported actions are {_action_list()}"
        )
    needed = NEEDS.get(str(action), ())
    if any(not given.get(name) for name in needed):
        noun, verb = ("parameters", "are") if len(needed) > 1 else ("parameter", "is")
        raise RequestInvalid(
            f"Missing required {noun}: {' and '.join(needed)} {verb} required for {action} action"
        )
    return validated(model, given)


def validated(model: type[M], given: Mapping[str, Any]) -> M:
    """Return the arguments as a model; a null counts as not given. Raises RequestInvalid."""
    try:
        return model.model_validate({k: v for k, v in given.items() if v is not None})
    except ValidationError as error:
        raise RequestInvalid(_problem(error, given)) from error


def _shown(value: Any) -> str:
    """Return a value as a message shows it: its first MAX_SHOWN characters."""
    return str(value)[:MAX_SHOWN].encode(errors="replace").decode()


def _action_list() -> str:
    names = [f"'{name}'" for name in ACTIONS]
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def _problem(error: ValidationError, given: Mapping[str, Any]) -> str:
    """Return the first problem of a request as a sentence."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = str(first["loc"][0]) if first["loc"] else "request"
    if field == "relationshipType":
        return f"Invalid relationship type: {_shown(given.get(field))}"
    path = ".".join(str(part) for part in first["loc"]) or field
    return f"Invalid parameter: {path}: {first['msg'].removeprefix('Value error, ')}"


# --- importance and ignored ids ------------------------------------------------------------


def judge(text: str) -> Importance:
    """Return the importance that a text suggests: `urgent` → high, `why?` → medium, `ok` → low."""
    if URGENT.search(text):
        return "high"
    if QUESTION.search(text):
        return "medium"
    return "low" if len(text) < SHORT else "medium"


def level(value: float | None) -> Importance:
    """Return the nearest name of a stored importance: 0.7 → high; medium for None."""
    stored = VALUES["medium"] if value is None else value
    return min(VALUES, key=lambda name: abs(VALUES[name] - stored))


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text by its words: ten words → 13 tokens."""
    return math.ceil(len(text.split()) * TOKENS_PER_WORD)


class IgnorePatterns:
    """Refuses ids by patterns, of a whole id or a part of its path: `node_modules`, `*.log`."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns

    def check(self, context_id: str) -> None:
        """Raise RequestInvalid, which names the pattern, where an id is refused."""
        parts = [context_id, *context_id.replace("\\", "/").split("/")]
        for pattern in self._patterns:
            if any(fnmatchcase(part, pattern.rstrip("/")) for part in parts):
                raise RequestInvalid(
                    f'Context ID "{context_id}" matches ignore pattern "{pattern}"',
                    contextId=context_id,
                    pattern=pattern,
                )
