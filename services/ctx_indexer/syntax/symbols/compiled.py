"""The specs of Go, Java, Kotlin, C#, Rust, C and C++."""

from dataclasses import replace

from ctx_indexer.syntax.symbols.imports import (
    c_imports,
    csharp_imports,
    dotted_imports,
    go_imports,
    rust_imports,
)
from ctx_indexer.syntax.symbols.languages import SymbolSpec
from ctx_indexer.syntax.symbols.shapes import Shapes

GO = SymbolSpec(
    query="go",
    shapes=Shapes(
        attributes={
            "selector_expression": ("operand", "field"),
            "qualified_type": ("package", "name"),
        },
        calls={
            "call_expression": ("function", "arguments"),
            "type_conversion_expression": ("type", ""),  # also a call with arguments for its types
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
    comma_ok=True,
    loops_last=True,
)

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

RUST = SymbolSpec(
    query="rust",
    shapes=Shapes(
        attributes={"field_expression": ("value", "field")},
        calls={"call_expression": ("function", "arguments")},
        constructs={"struct_expression": ("name", "")},
        subscripts={"index_expression": ("0", "1")},
        wrappers={
            "reference_expression": "value",
            "await_expression": "0",
            "try_expression": "0",
            "parenthesized_expression": "0",
            "reference_type": "type",
            "dynamic_type": "trait",
            "abstract_type": "trait",
            "unary_expression": "0",
            "generic_function": "function",
            "mut_pattern": "-1",
            "ref_pattern": "-1",
            "bounded_type": "0",
        },
        literals={"string_literal": "str", "integer_literal": "i32", "float_literal": "f64"},
        functions=frozenset(["closure_expression"]),
        names=frozenset(
            "identifier self super crate type_identifier scoped_identifier"
            " scoped_type_identifier".split()
        ),
        generics={"generic_type": "type_arguments"},
        arrays={"array_type": "element", "slice_type": "0"},
        transparent=frozenset(
            "Option Box Rc Arc RefCell Cell Mutex RwLock Result Cow Pin Ref RefMut".split()
        ),
    ),
    imports=rust_imports,
    parameters={"parameter": ("pattern", "type", "")},
    no_parameters=frozenset(["self_parameter", "attribute_item"]),
    tuples=frozenset(["tuple_type"]),
    exports=True,
)

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
            "parameter_declaration": "type",  # `Type name(value);` reads as that of a function
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
    overloads=True,
)
