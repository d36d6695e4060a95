"""The nodes of Swift that symbol tables are built from."""

from ctx_indexer.languages.swift.imports import swift_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

_TYPES = (
    "user_type optional_type array_type dictionary_type tuple_type function_type existential_type"
    " opaque_type protocol_composition_type"
).split()

SWIFT = SymbolSpec(
    query="swift",
    shapes=Shapes(
        attributes={"navigation_expression": ("target", "suffix")},
        calls={"call_expression": ("0", ":call_suffix")},
        constructs={"constructor_expression": ("constructed_type", ":constructor_suffix")},
        choices=frozenset(["nil_coalescing_expression", "ternary_expression"]),
        wrappers={
            "optional_type": "wrapped",
            "existential_type": "0",
            "opaque_type": "0",
            "protocol_composition_type": "0",
            "try_expression": "expr",
            "await_expression": "expr",
            "postfix_expression": "target",
            "prefix_expression": "target",
            "directly_assignable_expression": "0",
            "value_argument": "value",
            # The grammar reads `a + b.c()` as `(a + b).c()`.
            "additive_expression": "rhs",
            "multiplicative_expression": "rhs",
        },
        contextual=".",
        casts={"as_expression": "name"},
        sequences=frozenset(["array_literal", "pattern", "tuple_expression"]),
        lists=frozenset(["pattern", "tuple_expression"]),
        literals={
            "line_string_literal": "String",
            "multi_line_string_literal": "String",
            "raw_string_literal": "String",
            "integer_literal": "Int",
            "hex_literal": "Int",
            "bin_literal": "Int",
            "oct_literal": "Int",
            "real_literal": "Double",
            "boolean_literal": "Bool",
        },
        functions=frozenset(["lambda_literal"]),
        names=frozenset(
            "simple_identifier identifier type_identifier self_expression super_expression".split()
        ),
        generics={"user_type": "type_arguments"},
        arrays={"array_type": "name"},
    ),
    imports=swift_imports,
    parameters={
        "parameter": (
            "0",
            f":{'|'.join(_TYPES)}",
            "",
        ),  # named by its label: `at` of `at index: Int`
        "lambda_parameter": (":simple_identifier", f":{'|'.join(_TYPES)}", ""),
    },
    no_parameters=frozenset(
        "modifiers attribute simple_identifier type_parameters type_constraints throws"
        " computed_property function_body".split()
    )
    | frozenset(_TYPES),
    rest_modifier="...",
    keyword_arguments={"value_argument": ("name", "value")},
    argument_lists=frozenset(["value_arguments"]),
    overloads=True,
)
