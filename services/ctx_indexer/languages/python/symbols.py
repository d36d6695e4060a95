"""The nodes of Python that symbol tables are built from."""

from ctx_indexer.languages.python.annotations import python_type
from ctx_indexer.languages.python.imports import python_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

PYTHON = SymbolSpec(
    query="python",
    shapes=Shapes(
        attributes={"attribute": ("object", "attribute")},
        calls={"call": ("function", "arguments")},
        subscripts={"subscript": ("value", "subscript")},
        choices=frozenset(["boolean_operator"]),
        conditions={"conditional_expression": ("0", "-1")},
        comprehensions=dict.fromkeys(
            "list_comprehension set_comprehension generator_expression"
            " dictionary_comprehension".split(),
            "body",
        ),
        wrappers=dict.fromkeys(
            (
                "await parenthesized_expression type as_pattern_target named_expression assignment"
            ).split(),
            "-1",
        ),
        sequences=frozenset("list tuple set expression_list pattern_list tuple_pattern".split()),
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
        passing=frozenset(
            "cast type next enumerate zip list tuple set frozenset sorted iter reversed copy"
            " deepcopy partial update_wrapper super __new__".split()
        ),
        getters=frozenset(["getattr"]),
        unions=frozenset(["Union", "Optional"]),
    ),
    imports=python_imports,
    parameters={
        "typed_parameter": ("0", "type", ""),
        "default_parameter": ("name", "", "value"),
        "typed_default_parameter": ("name", "type", "value"),
    },
    annotations=python_type,
    keyword_arguments={"keyword_argument": ("name", "value")},
    splats=frozenset(["list_splat_pattern", "dictionary_splat_pattern"]),
    runs={name: f"__{name}__" for name in "str repr len bool iter next hash int float".split()},
    loop_runs="__iter__",
    enter_runs=("__enter__", "__exit__"),
    heads_outside=True,
    reads=True,
    targets=frozenset("pattern_list tuple_pattern list_pattern".split()),
    exports=False,
)
