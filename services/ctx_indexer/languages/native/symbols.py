"""The nodes of C and C++ that symbol tables are built from."""

from dataclasses import replace

from ctx_indexer.languages.native.imports import c_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

C = SymbolSpec(
    query="c",
    shapes=Shapes(
        attributes={"field_expression": ("argument", "field")},
        calls={"call_expression": ("function", "arguments")},
        subscripts={"subscript_expression": ("argument", "index")},
        choices=frozenset(["conditional_expression"]),
        wrappers={
            "parenthesized_expression": "0",
            "pointer_expression": "argument",
            "cast_expression": "type",
            "type_descriptor": "type",
            "struct_specifier": "name",
            "class_specifier": "name",
            "enum_specifier": "name",
            "union_specifier": "name",
            "assignment_expression": "right",
        },
        sequences=frozenset(["initializer_list"]),
        pairs={"initializer_pair": ("designator", "value")},
        literals={
            "string_literal": "string",
            "number_literal": "number",
            "char_literal": "char",
            "true": "bool",
            "false": "bool",
        },
        functions=frozenset(["lambda_expression"]),
        names=frozenset(
            "identifier field_identifier type_identifier namespace_identifier this"
            " primitive_type".split()
        ),
    ),
    imports=c_imports,
    parameters={
        "parameter_declaration": ("declarator", "type", ""),
        "optional_parameter_declaration": ("declarator", "type", "default_value"),
    },
    splats=frozenset(["variadic_parameter"]),
)

CPP = replace(
    C,
    query="cpp",
    shapes=replace(
        C.shapes,
        attributes={**C.shapes.attributes, "qualified_identifier": ("scope", "name")},
        constructs={
            "new_expression": ("type", "arguments"),
            "compound_literal_expression": ("type", "value"),
        },
        wrappers={
            **C.shapes.wrappers,
            "co_await_expression": "argument",
            "parameter_declaration": "type",  # of `Type name(value);`, which reads as a function
        },
        generics={
            "template_type": "template_argument_list",
            "template_function": "template_argument_list",
            "template_method": "template_argument_list",
        },
        transparent=frozenset(
            "unique_ptr shared_ptr weak_ptr optional make_unique make_shared reference_wrapper"
            " static_cast dynamic_cast reinterpret_cast const_cast".split()
        ),
        cast_words=frozenset("static_cast dynamic_cast reinterpret_cast const_cast".split()),
    ),
    splats=C.splats | {"variadic_parameter_declaration"},
    untyped=frozenset(["auto"]),
    holds=True,
    pointed=("char", "void", "wchar_t"),
    overloads=True,
)
