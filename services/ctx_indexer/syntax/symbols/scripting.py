"""The specs of Python, JavaScript, TypeScript, Ruby and PHP."""

from dataclasses import replace

from ctx_indexer.syntax.symbols.annotations import python_type
from ctx_indexer.syntax.symbols.imports import (
    javascript_imports,
    php_imports,
    python_imports,
    ruby_imports,
)
from ctx_indexer.syntax.symbols.languages import SymbolSpec
from ctx_indexer.syntax.symbols.shapes import Shapes

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
    heads_outside=True,
    reads=True,
    targets=frozenset("pattern_list tuple_pattern list_pattern".split()),
    exports=False,
)

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
