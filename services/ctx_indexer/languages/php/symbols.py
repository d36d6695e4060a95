"""The nodes of PHP that symbol tables are built from."""

from ctx_indexer.languages.php.imports import php_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

PHP = SymbolSpec(
    query="php",
    shapes=Shapes(
        attributes={
            "member_access_expression": ("object", "name"),
            "nullsafe_member_access_expression": ("object", "name"),
            "scoped_property_access_expression": ("scope", "name"),
            "class_constant_access_expression": ("0", "1"),
        },
        calls={"function_call_expression": ("function", "arguments")},
        methods={
            "member_call_expression": ("object", "name", "arguments"),
            "nullsafe_member_call_expression": ("object", "name", "arguments"),
            "scoped_call_expression": ("scope", "name", "arguments"),
        },
        constructs={"object_creation_expression": ("0", "1")},
        subscripts={"subscript_expression": ("0", "1")},
        choices=frozenset(["conditional_expression", "binary_expression", "union_type"]),
        wrappers={
            "parenthesized_expression": "0",
            "assignment_expression": "right",
            "augmented_assignment_expression": "right",
            "clone_expression": "0",
            "argument": "-1",
            "optional_type": "0",
        },
        sequences=frozenset(["list_literal"]),
        literals={"string": "string", "encapsed_string": "string", "integer": "int"},
        functions=frozenset(["anonymous_function", "arrow_function"]),
        names=frozenset(
            "name variable_name qualified_name relative_scope named_type namespace_name".split()
        ),
        sigil="$",
    ),
    imports=php_imports,
    parameters={
        "simple_parameter": ("name", "type", "default_value"),
        "property_promotion_parameter": ("name", "type", "default_value"),
    },
    splats=frozenset(["variadic_parameter"]),
    promoted=frozenset(["property_promotion_parameter"]),
    sigil="$",
)
