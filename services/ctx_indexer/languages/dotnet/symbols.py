"""The nodes of C# that symbol tables are built from."""

from ctx_indexer.languages.dotnet.imports import csharp_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

CSHARP = SymbolSpec(
    query="csharp",
    shapes=Shapes(
        attributes={
            "member_access_expression": ("expression", "name"),
            "conditional_access_expression": ("condition", "1"),
            "qualified_name": ("qualifier", "name"),
        },
        calls={"invocation_expression": ("function", "arguments")},
        constructs={"object_creation_expression": ("type", "arguments")},
        subscripts={"element_access_expression": ("expression", "subscript")},
        choices=frozenset(["conditional_expression"]),
        wrappers={
            "parenthesized_expression": "0",
            "await_expression": "0",
            "nullable_type": "type",
            "cast_expression": "type",
            "as_expression": "right",
            "argument": "-1",
            "assignment_expression": "right",
            "postfix_unary_expression": "0",
            "arrow_expression_clause": "0",
            "equals_value_clause": "0",
            "primary_constructor_base_type": "0",
        },
        literals={
            "string_literal": "string",
            "interpolated_string_expression": "string",
            "integer_literal": "int",
            "real_literal": "double",
            "boolean_literal": "bool",
            "character_literal": "char",
        },
        functions=frozenset(["lambda_expression", "anonymous_method_expression"]),
        names=frozenset(
            "identifier this base predefined_type this_expression base_expression"
            " implicit_parameter".split()
        ),
        generics={"generic_name": "type_argument_list"},
        arrays={"array_type": "type"},
        transparent=frozenset(["Task", "ValueTask", "Lazy", "Nullable"]),
    ),
    imports=csharp_imports,
    parameters={
        "parameter": (
            "name",
            "type",
            ":null_literal|boolean_literal|integer_literal|real_literal|string_literal"
            "|character_literal|default_expression|member_access_expression"
            "|prefix_unary_expression",
        )
    },
    splats=frozenset(["identifier"]),  # `params T[] rest` has its parts in the list itself
    no_parameters=frozenset(["array_type"]),
    untyped=frozenset(["var", "dynamic"]),
    overloads=True,
    marks_new=True,
)
