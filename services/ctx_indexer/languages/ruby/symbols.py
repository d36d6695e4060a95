"""The nodes of Ruby that symbol tables are built from."""

from ctx_indexer.languages.ruby.imports import ruby_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

RUBY = SymbolSpec(
    query="ruby",
    shapes=Shapes(
        attributes={"scope_resolution": ("scope", "name")},
        methods={"call": ("receiver", "method", "arguments")},
        subscripts={"element_reference": ("object", "1")},
        choices=frozenset(["binary", "conditional"]),
        wrappers={
            "parenthesized_statements": "-1",
            "return": "0",
            "argument_list": "0",
            "assignment": "right",
            "operator_assignment": "right",
            "superclass": "0",
        },
        sequences=frozenset(["array", "left_assignment_list"]),
        literals={"string": "String", "integer": "Integer", "float": "Float", "true": "true"},
        functions=frozenset(["lambda"]),
        names=frozenset(["identifier", "constant", "self", "super", "instance_variable"]),
        creator="new",
        members="@",
    ),
    imports=ruby_imports,
    parameters={
        "optional_parameter": ("name", "", "value"),
        "keyword_parameter": ("name", "", "value"),
    },
    splats=frozenset(["splat_parameter", "hash_splat_parameter", "block_parameter"]),
    bare_calls={
        "identifier": frozenset(
            "body_statement block_body then else argument_list interpolation assignment binary"
            " return if_modifier unless_modifier program operator_assignment array begin call"
            " pair conditional if unless".split()
        )
    },
)
