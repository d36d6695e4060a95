"""The nodes of Go that symbol tables are built from."""

from ctx_indexer.languages.go.imports import go_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

GO = SymbolSpec(
    query="go",
    shapes=Shapes(
        attributes={
            "selector_expression": ("operand", "field"),
            "qualified_type": ("package", "name"),
        },
        calls={
            "call_expression": ("function", "arguments"),
            "type_conversion_expression": ("type", ""),  # reads `f[int](a)` as well
        },
        constructs={"composite_literal": ("type", "")},
        makers=frozenset(["make", "new"]),
        receiving="<-",
        subscripts={"index_expression": ("operand", "index")},
        wrappers={
            "unary_expression": "operand",
            "parenthesized_expression": "0",
            "pointer_type": "0",
            "type_assertion_expression": "type",
            "parenthesized_type": "0",
            "slice_expression": "operand",
            "type_elem": "0",
        },
        sequences=frozenset(["expression_list"]),
        lists=frozenset(["expression_list"]),
        literals={"interpreted_string_literal": "string", "int_literal": "int"},
        functions=frozenset(["func_literal", "struct_type", "interface_type"]),
        names=frozenset(["identifier", "type_identifier", "package_identifier"]),
        generics={"generic_type": "type_arguments"},
        arrays={
            "slice_type": "element",
            "array_type": "element",
            "map_type": "value",
            "channel_type": "value",
        },
    ),
    imports=go_imports,
    parameters={
        "parameter_declaration": ("name", "type", ""),
        "variadic_parameter_declaration": ("name", "type", ""),
    },
    variadic=frozenset(["variadic_parameter_declaration"]),
    tuples=frozenset(["parameter_list"]),
    variables=True,
    name_lists=frozenset(["expression_list", "parameter_list", "parameter_declaration"]),
    # These names hold nothing that the repository defines: scopes for them would double the table.
    common=frozenset("_ err ok i j".split()),
    comma_ok=True,
    loops_last=True,
)
