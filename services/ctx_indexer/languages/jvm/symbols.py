"""The nodes of Java and Kotlin that symbol tables are built from."""

from ctx_indexer.languages.jvm.imports import dotted_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

JAVA = SymbolSpec(
    query="java",
    shapes=Shapes(
        attributes={
            "field_access": ("object", "field"),
            "scoped_type_identifier": ("0", "1"),
            "method_reference": ("0", "1"),
        },
        methods={"method_invocation": ("object", "name", "arguments")},
        constructs={"object_creation_expression": ("type", "arguments")},
        subscripts={"array_access": ("array", "index")},
        choices=frozenset(["ternary_expression"]),
        wrappers={
            "parenthesized_expression": "0",
            "assignment_expression": "right",
            "update_expression": "0",
            "type_list": "0",
        },
        casts={"cast_expression": "type"},
        operations={
            "binary_expression": ("operator", "left", "right"),
            "unary_expression": ("operator", "operand", ""),
        },
        literals={
            "string_literal": "string",
            "decimal_integer_literal": "int",
            "hex_integer_literal": "int",
            "octal_integer_literal": "int",
            "binary_integer_literal": "int",
            "decimal_floating_point_literal": "double",
            "character_literal": "char",
            "true": "boolean",
            "false": "boolean",
            "null_literal": "null",
            "class_literal": "Class",
            "instanceof_expression": "boolean",
        },
        suffixes={
            "decimal_integer_literall": "long",
            "hex_integer_literall": "long",
            "octal_integer_literall": "long",
            "binary_integer_literall": "long",
            "decimal_floating_point_literalf": "float",
        },
        truth="boolean",
        functions=frozenset(["lambda_expression"]),
        bodies=frozenset(["class_body"]),
        names=frozenset(
            "identifier this super type_identifier integral_type floating_point_type boolean_type"
            " void_type scoped_identifier".split()
        ),
        generics={"generic_type": "type_arguments"},
        arrays={"array_type": "element", "array_creation_expression": "type"},
        dimensions=frozenset(["dimensions", "dimensions_expr"]),
        passes_all=True,
    ),
    imports=dotted_imports,
    parameters={
        "formal_parameter": ("name", "type", ""),
        "spread_parameter": (
            "-1",
            ":type_identifier|generic_type|scoped_type_identifier|array_type|integral_type"
            "|floating_point_type|boolean_type",
            "",
        ),
        "inferred_parameters": ("0", "", ""),
    },
    splats=frozenset(["spread_parameter"]),
    no_parameters=frozenset(["receiver_parameter"]),
    untyped=frozenset(["var"]),
    overloads=True,
    marks_new=True,
)

KOTLIN = SymbolSpec(
    query="kotlin",
    shapes=Shapes(
        attributes={"navigation_expression": ("0", "1")},
        calls={"call_expression": ("0", ":call_suffix")},
        subscripts={"indexing_expression": ("0", "1")},
        choices=frozenset(["elvis_expression"]),
        wrappers={
            "parenthesized_expression": "0",
            "nullable_type": "0",
            "type_projection": "0",
            "value_argument": "-1",
            "annotated_lambda": "-1",
            "callable_reference": "-1",
            "as_expression": "-1",
            "postfix_expression": "0",
            "receiver_type": "0",
            "constructor_invocation": "0",
            "delegation_specifier": "0",
            "parenthesized_type": "0",
        },
        literals={
            "string_literal": "String",
            "integer_literal": "Int",
            "real_literal": "Double",
            "boolean_literal": "Boolean",
        },
        functions=frozenset(["lambda_literal", "anonymous_function", "object_literal"]),
        names=frozenset(
            "simple_identifier identifier this_expression super_expression type_identifier".split()
        ),
        generics={"user_type": "type_arguments"},
    ),
    imports=dotted_imports,
    parameters={
        "parameter": ("0", "1", ""),
        "class_parameter": (":simple_identifier", ":user_type|nullable_type", ""),
        "variable_declaration": ("0", "1", ""),
    },
    no_parameters=frozenset(["modifiers", "parameter_modifiers"]),
    rest_modifier="vararg",
    argument_lists=frozenset(["value_arguments"]),
    overloads=True,
    unnamed_class="Companion",
)
