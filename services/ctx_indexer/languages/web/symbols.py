"""The nodes of JavaScript and TypeScript that symbol tables are built from."""

from dataclasses import replace

from ctx_indexer.languages.web.imports import javascript_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

JAVASCRIPT = SymbolSpec(
    query="javascript",
    shapes=Shapes(
        attributes={"member_expression": ("object", "property")},
        calls={"call_expression": ("function", "arguments")},
        constructs={"new_expression": ("constructor", "arguments")},
        subscripts={"subscript_expression": ("object", "index")},
        choices=frozenset(["binary_expression", "union_type", "intersection_type"]),
        conditions={"ternary_expression": ("consequence", "alternative")},
        nothing=frozenset(
            "null undefined true false number string template_string literal_type predefined_type"
            " template_literal_type".split()
        ),
        anything=frozenset(["any", "unknown", "object"]),
        wrappers={
            "await_expression": "0",
            "parenthesized_expression": "0",
            "assignment_expression": "right",
            "as_expression": "-1",
            "satisfies_expression": "0",
            "non_null_expression": "0",
            "type_annotation": "0",
            "spread_element": "0",
            "extends_clause": "value",
            "constraint": "0",
            "assignment_pattern": "left",
            "parenthesized_type": "0",
            "readonly_type": "0",
        },
        sequences=frozenset(["array", "array_pattern"]),
        mappings=frozenset(["object", "object_pattern", "object_type"]),
        pairs={"pair": ("key", "value"), "pair_pattern": ("key", "value")},
        typed_pairs={"property_signature": ("name", "type")},
        patterns={"object_assignment_pattern": "left", "rest_pattern": "0"},
        literals={"string": "string", "template_string": "string", "number": "number"},
        functions=frozenset(
            "arrow_function function_expression method_definition class function"
            " method_signature".split()
        ),
        names=frozenset(
            "identifier this this_type super type_identifier nested_type_identifier"
            " nested_identifier shorthand_property_identifier"
            " shorthand_property_identifier_pattern".split()
        ),
        generics={"generic_type": "type_arguments"},
        arrays={"array_type": "0"},
        lookups=frozenset(["type_query", "lookup_type"]),
        transparent=frozenset(["Promise", "Readonly", "Partial", "Required", "NonNullable"]),
    ),
    imports=javascript_imports,
    parameters={
        "required_parameter": ("pattern", "type", "value"),
        "optional_parameter": ("pattern", "type", "value"),
        "assignment_pattern": ("left", "", "right"),
    },
    splats=frozenset(["rest_pattern"]),
    promoted=frozenset(["accessibility_modifier", "readonly"]),
    empty=frozenset(["undefined", "null"]),
    exports=False,
)

TYPESCRIPT = replace(JAVASCRIPT, query="typescript")
