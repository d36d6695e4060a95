"""The weights of the ranking: how much each rule counts, with its reason.

A rule stays because it gains in the ablation of docs/benchmarks.md.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Weights:
    """The weights of the ranking; the benchmark's ablation replaces one at a time."""

    lexical: float = 1.0
    dense: float = 1.0  # 0.6 is 0.002 worse, on average over trainings of the model
    definition: float = 1.0  # a query that is a name asks for its definition
    nested: float = 0.8  # of `definition`: a method, or one of several definitions in the chunk
    qualified: float = 2.0  # of `definition`: all names of `Class.method`; few chunks have them
    outer_only: float = 0.4  # of `definition`: the class where `Class.method` is asked for
    assigned: float = 0.6  # of `definition`: a variable, against a class or function
    other_case: float = 0.9  # of `definition`: `Session` asks for the class, not for `session`
    file_name: float = 1.0  # words of the file's name in the query: files are named by topic
    query_in_names: float = 0.5  # words of the query in the names that the chunk defines
    symbol_in_query: float = 0.7  # words of the chunk's main symbol in the query
    test: float = 0.2  # tests repeat the words of the code they test
    low_priority: float = 0.7  # for old callers, or only showing how to call
    docs: float = 0.3  # prose repeats the words of the code it describes
    usage: float = 2.0  # of documentation, where the query asks how to use the project
    changelog: float = 1.5  # of the best score: the top of a changelog, if asked what changed
    generated: float = 0.5
    imports: float = 0.8  # a list of imports names everything and explains nothing
    coherence: float = 0.5  # a file with many good chunks is about the topic
    repeat: float = 0.3  # a further chunk of a file tells less than another file
    literal: float = 0.5  # of the best score: the text holds an identifier as the query has it
    literal_definition: float = 0.25  # of the best score: it is defined there
    far_below: float = 0.1  # share of the best score; less is left out


DEFAULT = Weights()
MODES = CODE_FIRST, DOCS_FIRST, BALANCED = "code_first", "docs_first", "balanced"


def weights_of_mode(mode: str | None, weights: Weights = DEFAULT) -> Weights:
    """Return the weights of a mode: code or documentation first, or neither before the other."""
    if mode == CODE_FIRST:
        return replace(weights, usage=weights.docs, changelog=0.0)
    if mode == DOCS_FIRST:
        return replace(weights, docs=weights.usage)
    if mode == BALANCED:
        return replace(weights, docs=1.0, usage=1.0)
    return weights
