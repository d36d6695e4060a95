"""The rules of a language: eight questions, each with an answer that a family may replace."""

from dataclasses import dataclass, field

from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.members import Members
from ctx_indexer.languages.semantics.names import Names
from ctx_indexer.languages.semantics.overloads import Overloads
from ctx_indexer.languages.semantics.parameters import Parameters
from ctx_indexer.languages.semantics.receivers import Receivers
from ctx_indexer.languages.semantics.results import Results
from ctx_indexer.languages.semantics.targets import Targets
from ctx_indexer.languages.semantics.visible import Visible


@dataclass(frozen=True)
class Semantics:
    """The answers of one language; each default is that of a language without a rule of its own."""

    words: Words = field(default_factory=Words)
    visible: Visible = field(default_factory=Visible)
    names: Names = field(default_factory=Names)
    receivers: Receivers = field(default_factory=Receivers)
    targets: Targets = field(default_factory=Targets)
    results: Results = field(default_factory=Results)
    members: Members = field(default_factory=Members)
    overloads: Overloads = field(default_factory=Overloads)
    parameters: Parameters = field(default_factory=Parameters)
