"""How each language writes what a symbol table holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from services.indexer.syntax.symbols.expressions import Shapes
from services.indexer.syntax.symbols.imports import ImportedName, python_imports


@dataclass(frozen=True)
class SymbolSpec:
    """The query, node types and import syntax of a language."""

    query: str
    shapes: Shapes
    imports: Callable[[str], Sequence[ImportedName]]
    # A parameter's node type, with the fields of its name, type and default.
    parameters: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    keyword_arguments: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    splats: frozenset[str] = frozenset()  # parameters that take the rest, as `*args`


PYTHON = SymbolSpec(
    query="python",
    shapes=Shapes(
        attributes={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        subscripts={"subscript": ("value", "subscript")},
        choices=frozenset(["boolean_operator", "conditional_expression"]),
        wrappers=frozenset(
            [
                "await",
                "parenthesized_expression",
                "type",
                "as_pattern_target",
                "named_expression",
                "assignment",
            ]
        ),
        sequences=frozenset(
            ["list", "tuple", "set", "expression_list", "pattern_list", "tuple_pattern"]
        ),
        mappings=frozenset(["dictionary"]),
        literals={
            "string": "str",
            "concatenated_string": "str",
            "integer": "int",
            "float": "float",
            "true": "bool",
            "false": "bool",
            "none": "None",
        },
        functions=frozenset(["lambda"]),
        names=frozenset(["identifier", "dotted_name"]),
    ),
    imports=python_imports,
    parameters={
        "typed_parameter": ("", "type", ""),
        "default_parameter": ("name", "", "value"),
        "typed_default_parameter": ("name", "type", "value"),
    },
    keyword_arguments={"keyword_argument": ("name", "value")},
    splats=frozenset(["list_splat_pattern", "dictionary_splat_pattern"]),
)

SPECS: Mapping[str, SymbolSpec] = {"python": PYTHON}
